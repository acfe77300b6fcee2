CREATE TRIGGER items_are_never_updated BEFORE UPDATE ON items
WHEN NOT (NEW.payload IS NULL AND NEW.position IS OLD.position AND NEW.tx IS OLD.tx AND NEW.id IS OLD.id
    AND NEW.owner IS OLD.owner AND NEW.type IS OLD.type AND NEW.realized_at IS OLD.realized_at
    AND NEW.canonical_at IS OLD.canonical_at AND NEW.hash IS OLD.hash
    AND NEW.payload_hash IS OLD.payload_hash AND NEW.encoding IS OLD.encoding)
BEGIN
    SELECT RAISE(ABORT, 'items are never updated (rule MG-SOIL-001)');
END;
CREATE TRIGGER items_are_never_deleted BEFORE DELETE ON items
BEGIN
    SELECT RAISE(ABORT, 'items are never deleted (rule MG-SOIL-001)');
END;
