-- readable by versions >= 5
CREATE TABLE state (
  project TEXT NOT NULL,
  owner TEXT NOT NULL,
  conversation TEXT NOT NULL,
  name TEXT NOT NULL,
  value BYTEA NOT NULL,
  bytes BIGINT NOT NULL,
  expires_us BIGINT NOT NULL,
  seal BYTEA NOT NULL,
  PRIMARY KEY (project, owner, conversation, name)
);
CREATE INDEX state_by_expiry ON state (project, expires_us);
CREATE TABLE stores (
  execution TEXT NOT NULL,
  path TEXT NOT NULL,
  PRIMARY KEY (execution, path)
);
