ALTER TABLE executions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE executions SET bytes = 512
  + coalesce((SELECT length(given) + coalesce(length(outcome), 0) FROM contents WHERE execution = executions.id), 0)
  + coalesce((SELECT sum(64 + length(content) + coalesce(length(value), 0)) FROM entries
    WHERE place BETWEEN number << 32 AND (number + 1) << 32), 0)
  + coalesce((SELECT sum(length(value)) FROM blobs WHERE place BETWEEN number << 32 AND (number + 1) << 32), 0);
CREATE INDEX executions_by_end ON executions (project, ended_us, number, bytes) WHERE ended_us > 0;
CREATE INDEX executions_by_owner_and_end ON executions (project, owner, ended_us, number) WHERE ended_us > 0;
CREATE TABLE space (
  project TEXT NOT NULL,
  owner TEXT NOT NULL,
  open_bytes INTEGER NOT NULL,
  ended_bytes INTEGER NOT NULL,
  PRIMARY KEY (project, owner)
);
INSERT INTO space SELECT project, owner, coalesce(sum(CASE WHEN ended_us = 0 THEN bytes END), 0),
  coalesce(sum(CASE WHEN ended_us > 0 THEN bytes END), 0) FROM executions GROUP BY project, owner;
