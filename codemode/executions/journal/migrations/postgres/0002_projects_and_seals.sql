-- readable by versions >= 2
ALTER TABLE executions ADD COLUMN project TEXT NOT NULL DEFAULT '';
DROP INDEX executions_by_request;
DROP INDEX executions_by_age;
DROP INDEX executions_by_status;
CREATE UNIQUE INDEX executions_by_request ON executions (project, owner, request_key) WHERE request_key <> '';
CREATE INDEX executions_by_age ON executions (project, created_us, id);
CREATE INDEX executions_by_status ON executions (project, status, ended_us);
ALTER TABLE contents ADD COLUMN seal BYTEA;
ALTER TABLE contents ADD COLUMN sealed_to BIGINT;
ALTER TABLE contents ADD COLUMN outcome_seal BYTEA;
ALTER TABLE entries ADD COLUMN seal BYTEA;
ALTER TABLE questions ADD COLUMN seal BYTEA;
ALTER TABLE questions ADD COLUMN verdict_seal BYTEA;
ALTER TABLE journal_key ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE journal_key ADD COLUMN sealed_from BIGINT NOT NULL DEFAULT 0;
ALTER TABLE journal_key ADD COLUMN seal BYTEA;
