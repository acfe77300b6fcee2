CREATE FUNCTION items_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.payload IS NULL
        AND (NEW.position, NEW.tx, NEW.id, NEW.owner, NEW.type, NEW.realized_at, NEW.canonical_at, NEW.hash, NEW.payload_hash, NEW.encoding)
        IS NOT DISTINCT FROM
        (OLD.position, OLD.tx, OLD.id, OLD.owner, OLD.type, OLD.realized_at, OLD.canonical_at, OLD.hash, OLD.payload_hash, OLD.encoding)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'items are never % (rule MG-SOIL-001)', CASE TG_OP WHEN 'UPDATE' THEN 'updated' ELSE 'deleted' END
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER items_are_kept BEFORE UPDATE OR DELETE ON items FOR EACH ROW EXECUTE FUNCTION items_are_kept();
CREATE TRIGGER items_are_not_truncated BEFORE TRUNCATE ON items FOR EACH STATEMENT EXECUTE FUNCTION items_are_kept();
