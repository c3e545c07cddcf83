-- readable by versions >= 7
CREATE TABLE outbox (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  execution TEXT NOT NULL,
  question TEXT NOT NULL,
  event TEXT NOT NULL,
  target TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  created_us BIGINT NOT NULL,
  due_us BIGINT NOT NULL,
  error TEXT NOT NULL
);
CREATE INDEX outbox_by_due ON outbox (project, state, due_us);
CREATE INDEX outbox_by_execution ON outbox (execution, question);
