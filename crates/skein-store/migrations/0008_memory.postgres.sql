-- What is remembered stays as it was remembered (rule BR-EPISODE-001).
CREATE FUNCTION refuse_episode_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an episode is never changed or deleted';
END $$;
CREATE TRIGGER episodes_never_changed BEFORE UPDATE OR DELETE ON episodes
    FOR EACH ROW EXECUTE FUNCTION refuse_episode_change();
