-- readable by versions >= 1
CREATE TABLE executions (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  request_key TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  status TEXT NOT NULL,
  server TEXT NOT NULL,
  lease_until_us BIGINT NOT NULL,
  generation BIGINT NOT NULL,
  created_us BIGINT NOT NULL,
  updated_us BIGINT NOT NULL,
  ended_us BIGINT NOT NULL
);
CREATE UNIQUE INDEX executions_by_request ON executions (owner, request_key) WHERE request_key <> '';
CREATE INDEX executions_by_age ON executions (created_us, id);
CREATE INDEX executions_by_status ON executions (status, ended_us);
CREATE TABLE contents (
  execution TEXT PRIMARY KEY,
  given TEXT NOT NULL,
  outcome TEXT
);
CREATE TABLE entries (
  place BIGINT PRIMARY KEY,
  kind TEXT NOT NULL,
  at_us BIGINT NOT NULL,
  content TEXT NOT NULL,
  value BYTEA
);
CREATE TABLE blobs (
  place BIGINT PRIMARY KEY,
  value BYTEA NOT NULL
);
CREATE TABLE questions (
  id TEXT PRIMARY KEY,
  execution TEXT NOT NULL,
  asked_us BIGINT NOT NULL,
  digest TEXT NOT NULL,
  kind TEXT NOT NULL,
  asked TEXT NOT NULL,
  verdict TEXT NOT NULL,
  answer TEXT NOT NULL,
  decided_us BIGINT NOT NULL
);
CREATE INDEX questions_by_execution ON questions (execution);
CREATE TABLE journal_key (fingerprint TEXT NOT NULL);
