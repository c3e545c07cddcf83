-- readable by versions >= 3
ALTER TABLE executions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
CREATE INDEX executions_by_end ON executions (project, ended_us, number, bytes) WHERE ended_us > 0;
CREATE INDEX executions_by_owner_and_end ON executions (project, owner, ended_us, number) WHERE ended_us > 0;
CREATE TABLE space (
  project TEXT NOT NULL,
  owner TEXT NOT NULL,
  open_bytes INTEGER NOT NULL,
  ended_bytes INTEGER NOT NULL,
  PRIMARY KEY (project, owner)
);
