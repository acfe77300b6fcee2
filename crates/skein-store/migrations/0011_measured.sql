-- What was measured, further.

-- What somebody measured of something is read past whatever others measured of it.
DROP INDEX metric_values_entity;
CREATE INDEX metric_values_own ON metric_values (owner, entity, name, at);

-- What is old is found by the times in its ids.
DROP INDEX metric_values_age;
