-- What is remembered stays as it was remembered (rule BR-EPISODE-001).
CREATE TRIGGER episodes_never_updated BEFORE UPDATE ON episodes BEGIN
    SELECT RAISE(ABORT, 'an episode is never changed');
END;
CREATE TRIGGER episodes_never_deleted BEFORE DELETE ON episodes BEGIN
    SELECT RAISE(ABORT, 'an episode is never deleted');
END;
