-- Reading positions.

-- operational: with which node a path went on last from a label; without a row, with the node that stays on the branch.
-- Projection writes it. It repeats what PathMoved and Node items say, is never hashed and may be emptied.
CREATE TABLE path_visits (
    path   BYTES NOT NULL,
    branch BYTES NOT NULL,
    depth  BIGINT NOT NULL,
    node   BYTES NOT NULL,
    PRIMARY KEY (path, branch, depth)
);
-- Of earlier moves only the last at each turn is known.
INSERT INTO path_visits (path, branch, depth, node)
    SELECT s.path, p.branch, p.depth, s.node FROM selections s
    JOIN nodes n ON n.id = s.node JOIN nodes p ON p.id = n.parent
    WHERE s.selected = 1 AND s.node = s.branch
    ORDER BY s.node DESC
    ON CONFLICT (path, branch, depth) DO NOTHING;
