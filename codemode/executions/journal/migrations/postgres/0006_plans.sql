-- readable by versions >= 6
CREATE TABLE plans (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  owner TEXT NOT NULL,
  created_us BIGINT NOT NULL,
  content TEXT NOT NULL,
  seal BYTEA NOT NULL,
  verdict TEXT NOT NULL,
  answer TEXT NOT NULL,
  decided_us BIGINT NOT NULL,
  verdict_seal BYTEA,
  execution TEXT NOT NULL
);
CREATE INDEX plans_by_age ON plans (project, created_us, id);
CREATE INDEX plans_by_owner ON plans (project, owner, created_us, id);
