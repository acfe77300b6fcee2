-- Rows come and go: room for the next version of a row on its own page, and what is dead is taken away soon.
ALTER TABLE jobs SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05);
