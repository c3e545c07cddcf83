-- Columns have the names of the fields in openapi.yaml, so a row is an answer. Days are YYYY-MM-DD, times are UTC with
-- a Z, money is in minor units, lists are JSON text. A view *_rows has the answer rows of the operations on its table.
-- clock(today, now) is the current time of the service.
create table clock (today text not null, now text not null);

create table currencies (
  code text primary key, name text not null, minorPerMajor integer not null, perEuro real not null, rateDate text not null
);
create view rates as  -- minor units of toCurrency for one minor unit of fromCurrency
  select f.code as fromCurrency, t.code as toCurrency, t.perEuro / f.perEuro as rate, t.rateDate,
         t.perEuro * t.minorPerMajor / (f.perEuro * f.minorPerMajor) as factor
  from currencies f cross join currencies t;

create table branches (
  id integer primary key, name text not null unique collate nocase, city text not null, address text not null, phone text,
  currency text not null references currencies, capacity integer not null, openedOn text not null,
  weekdayOpens text not null default '06:00', weekdayCloses text not null default '23:00',
  weekendOpens text not null default '08:00', weekendCloses text not null default '20:00'
);
create table gym (
  name text not null, legalName text not null, email text not null, phone text not null, currency text not null,
  theme text not null, currentPage text not null, currentBranchId integer not null references branches
);

create table staff (
  id integer primary key, firstName text not null, lastName text not null, email text not null unique collate nocase,
  phone text, role text not null, specialty text, branchId integer not null references branches,
  status text not null default 'active', hiredOn text not null, salaryMinor integer not null,
  currency text not null references currencies
);
create table salaries (
  id integer primary key, staffId integer not null references staff, month text not null, baseMinor integer not null,
  bonusMinor integer not null default 0, deductionsMinor integer not null default 0,
  status text not null default 'pending', paidOn text, paymentMethod text, unique (staffId, month)
);
create view salary_rows as
  select s.id, staffId, firstName || ' ' || lastName as staffName, role, branchId, month, baseMinor, bonusMinor,
         deductionsMinor, baseMinor + bonusMinor - deductionsMinor as amountMinor, currency, s.status,
         date(month || '-01', '+1 month', '-1 day') as dueOn, paidOn, paymentMethod
  from salaries s join staff m on m.id = staffId;
create view trainer_rows as
  select id, firstName, lastName, email, phone, branchId, specialty, status,
         (select count(*) from clients c where c.trainerId = s.id) as clients
  from staff s where role = 'trainer';

create table plans (
  id integer primary key, name text not null unique collate nocase, description text not null, durationDays integer not null,
  priceMinor integer not null, currency text not null references currencies, classesIncluded integer not null default 0,
  maxFreezeDays integer not null default 30, isActive integer not null default 1
);
create view plan_rows as
  select p.*, (select count(*) from memberships m where m.planId = p.id and m.status = 'active') as activeMemberships
  from plans p;
create table offers (
  id integer primary key, code text not null unique collate nocase, title text not null, discountPercent integer not null,
  planId integer references plans on delete cascade, validFrom text not null, validUntil text not null,
  maxRedemptions integer, redemptions integer not null default 0
);
create view offer_rows as
  select o.*, case when redemptions >= maxRedemptions then 'used_up' when validUntil < today then 'expired'
                   when validFrom > today then 'scheduled' else 'active' end as status
  from offers o, clock;

create table clients (
  id integer primary key, firstName text not null, lastName text not null, email text not null unique collate nocase,
  phone text, birthDate text not null, status text not null default 'active',
  branchId integer not null references branches, trainerId integer references staff on delete set null,
  joinedOn text not null, tags text not null default '[]', loyaltyPoints integer not null default 0 check (loyaltyPoints >= 0)
);
create index clients_by_trainer on clients (trainerId);
create table memberships (
  id integer primary key, clientId integer not null references clients on delete cascade,
  planId integer not null references plans, status text not null default 'active', startDate text not null,
  endDate text not null, autoRenew integer not null default 0, priceMinor integer not null, currency text not null,
  frozenFrom text, frozenUntil text, freezeReason text
);
create index memberships_by_client on memberships (clientId, startDate);
create index memberships_by_plan on memberships (planId, status);
create table membership_events (
  id integer primary key, membershipId integer not null references memberships on delete cascade, event text not null,
  occurredOn text not null, detail text
);
create index membership_events_by_membership on membership_events (membershipId);
create table visits (
  id integer primary key, clientId integer not null references clients on delete cascade,
  branchId integer not null references branches, checkedInAt text not null, checkedOutAt text
);
create index visits_by_client on visits (clientId, checkedInAt);
create index visits_by_time on visits (checkedInAt);
create table payments (
  id integer primary key, clientId integer not null references clients on delete cascade,
  branchId integer not null references branches, kind text not null, planId integer references plans,
  amountMinor integer not null, currency text not null references currencies, method text not null, paidOn text not null
);
create index payments_by_client on payments (clientId);
create index payments_by_day on payments (paidOn);
create view membership_rows as
  select m.id, clientId, firstName || ' ' || lastName as clientName, branchId, planId, p.name as planName, m.status,
         startDate, endDate, cast(julianday(endDate) - julianday(today) as integer) as daysLeft, autoRenew, m.priceMinor,
         m.currency, frozenFrom, frozenUntil, freezeReason
  from memberships m join clients c on c.id = clientId join plans p on p.id = planId, clock;
create view client_rows as
  select c.*, m.status as membershipStatus, p.name as planName, m.endDate as membershipEndsOn,
         (select date(max(checkedInAt)) from visits v where v.clientId = c.id) as lastVisitOn
  from clients c
  left join memberships m on m.id = (  -- the current membership, or else the latest
    select l.id from memberships l, clock where l.clientId = c.id
    order by (l.status in ('active', 'frozen') and today between startDate and endDate) desc, startDate desc, l.id desc limit 1)
  left join plans p on p.id = m.planId;
create view visit_rows as
  select v.id, clientId, firstName || ' ' || lastName as clientName, v.branchId, b.name as branchName, checkedInAt,
         checkedOutAt
  from visits v join clients c on c.id = clientId join branches b on b.id = v.branchId;
create view payment_rows as
  select p.id, clientId, firstName || ' ' || lastName as clientName, p.branchId, kind, planId, amountMinor, currency,
         method, paidOn
  from payments p join clients c on c.id = clientId;
create view branch_rows as
  select b.*, openedOn <= today as isOpen,
         (select count(*) from clients c where c.branchId = b.id and c.status = 'active') as activeClients
  from branches b, clock;
create table messages (
  id integer primary key, clientId integer not null references clients on delete cascade, channel text not null,
  subject text, text text not null, sentAt text not null
);

create table enquiries (
  id integer primary key, name text not null, email text, phone text, source text not null, interest text not null,
  message text, status text not null default 'new', branchId integer not null references branches, createdOn text not null
);
create table facilities (
  id integer primary key, name text not null, category text not null, branchId integer not null references branches,
  capacity integer, status text not null default 'open', description text
);
create view facility_rows as
  select f.*, b.name as branchName from facilities f join branches b on b.id = branchId;
create table diets (
  id integer primary key, name text not null unique collate nocase, goal text not null, caloriesPerDay integer not null,
  meals text not null default '[]', description text
);
create table diet_assignments (
  id integer primary key, dietId integer not null references diets on delete cascade,
  clientId integer not null references clients on delete cascade, startsOn text not null, unique (dietId, clientId)
);
create view diet_rows as
  select d.*, (select count(*) from diet_assignments a where a.dietId = d.id) as assignedClients from diets d;
create view diet_assignment_rows as
  select a.id, dietId, d.name as dietName, clientId, firstName || ' ' || lastName as clientName, startsOn
  from diet_assignments a join diets d on d.id = dietId join clients c on c.id = clientId;

create table stages (stage text primary key, position integer not null, probabilityPercent integer not null);
insert into stages values ('new', 1, 10), ('contacted', 2, 25), ('trial', 3, 50), ('negotiation', 4, 80), ('won', 5, 100), ('lost', 6, 0);
create table leads (
  id integer primary key, name text not null, email text, phone text, source text not null,
  stage text not null default 'new' references stages, valueMinor integer not null default 0, currency text not null,
  ownerId integer references staff on delete set null, branchId integer not null references branches,
  createdOn text not null, lostReason text, clientId integer references clients on delete set null
);
create table follow_ups (
  id integer primary key, leadId integer not null references leads on delete cascade, kind text not null,
  note text not null, dueOn text, createdAt text not null
);
create view lead_rows as
  select l.*, firstName || ' ' || lastName as ownerName,
         (select date(max(createdAt)) from follow_ups f where f.leadId = l.id) as lastContactOn
  from leads l left join staff s on s.id = ownerId;
create table referrals (
  id integer primary key, clientId integer not null references clients on delete cascade, friendName text not null,
  friendEmail text, friendPhone text, status text not null default 'pending', rewardPoints integer not null,
  createdOn text not null, convertedOn text, friendClientId integer references clients on delete set null
);
create view referral_rows as
  select r.*, firstName || ' ' || lastName as clientName from referrals r join clients c on c.id = clientId;

create table document_templates (
  id integer primary key, title text not null unique collate nocase, kind text not null, version integer not null default 1,
  text text not null, isRequired integer not null default 0
);
create table signed_documents (
  id integer primary key, templateId integer not null references document_templates,
  clientId integer not null references clients on delete cascade, signerName text not null, signedAt text not null,
  unique (templateId, clientId)
);
create view document_template_rows as
  select t.*, (select count(*) from signed_documents s where s.templateId = t.id) as signatures from document_templates t;
create view signed_document_rows as
  select s.id, templateId, title, kind, clientId, firstName || ' ' || lastName as clientName, signerName, signedAt,
         '/signed-documents/' || s.id || '/pdf' as pdfPath
  from signed_documents s join document_templates t on t.id = templateId join clients c on c.id = clientId;

create table goals (
  id integer primary key, clientId integer not null references clients on delete cascade, title text not null,
  kind text not null, unit text not null, startValue real not null, currentValue real not null, targetValue real not null,
  status text not null default 'active', createdOn text not null, targetDate text
);
create view goal_rows as
  select g.*, firstName || ' ' || lastName as clientName,
         round(min(100, max(0, coalesce(100.0 * (currentValue - startValue) / nullif(targetValue - startValue, 0), 100))), 1)
           as progressPercent
  from goals g join clients c on c.id = clientId;
create table milestones (
  id integer primary key, goalId integer not null references goals on delete cascade, title text not null,
  targetValue real not null, dueOn text, reachedOn text
);
create table progress (
  id integer primary key, goalId integer not null references goals on delete cascade, value real not null,
  recordedOn text not null, note text
);
create table photos (
  id integer primary key, clientId integer not null references clients on delete cascade, kind text not null,
  takenOn text not null, url text not null, weightKg real, note text
);
create table notes (
  id integer primary key, clientId integer not null references clients on delete cascade,
  authorId integer references staff on delete set null, category text not null default 'general', text text not null,
  createdAt text not null
);
create view note_rows as
  select n.*, firstName || ' ' || lastName as authorName from notes n left join staff s on s.id = authorId;

create table class_types (
  id integer primary key, name text not null, category text not null, durationMinutes integer not null,
  difficulty text not null, description text not null
);
create table sessions (
  id integer primary key, classTypeId integer not null references class_types, trainerId integer not null references staff,
  branchId integer not null references branches, room text not null, startsAt text not null, endsAt text not null,
  capacity integer not null
);
create index sessions_by_time on sessions (startsAt);
create index sessions_by_trainer on sessions (trainerId, startsAt);
create table bookings (
  id integer primary key, sessionId integer not null references sessions on delete cascade,
  clientId integer not null references clients on delete cascade, status text not null default 'booked',
  bookedAt text not null, unique (sessionId, clientId)
);
create view class_type_rows as
  select t.*, (select count(*) from sessions s where s.classTypeId = t.id and startsAt > now) as upcomingSessions
  from class_types t, clock;
create view session_rows as
  select s.id, classTypeId, t.name as className, trainerId, firstName || ' ' || lastName as trainerName, s.branchId, room,
         startsAt, endsAt, capacity, count(b.id) filter (where b.status <> 'waitlisted') as booked,
         count(b.id) filter (where b.status = 'waitlisted') as waitlisted,
         max(0, capacity - count(b.id) filter (where b.status <> 'waitlisted')) as placesLeft
  from sessions s join class_types t on t.id = classTypeId join staff m on m.id = trainerId
  left join bookings b on b.sessionId = s.id
  group by s.id;
create view booking_rows as
  select b.id, sessionId, t.name as className, startsAt, clientId, firstName || ' ' || lastName as clientName, b.status,
         bookedAt
  from bookings b join sessions s on s.id = sessionId join class_types t on t.id = classTypeId join clients c on c.id = clientId;
create table services (
  id integer primary key, name text not null, category text not null, durationMinutes integer not null,
  priceMinor integer not null, currency text not null, description text not null
);
create table appointments (
  id integer primary key, serviceId integer not null references services, trainerId integer not null references staff,
  clientId integer not null references clients on delete cascade, startsAt text not null, endsAt text not null,
  status text not null default 'booked', note text
);
create index appointments_by_trainer on appointments (trainerId, startsAt);
create view appointment_rows as
  select a.id, serviceId, v.name as serviceName, a.trainerId, s.firstName || ' ' || s.lastName as trainerName, clientId,
         c.firstName || ' ' || c.lastName as clientName, s.branchId, startsAt, endsAt, a.status, note
  from appointments a join services v on v.id = serviceId join staff s on s.id = a.trainerId join clients c on c.id = clientId;

create table guest_visits (
  id integer primary key, guestName text not null, phone text, hostClientId integer references clients on delete set null,
  branchId integer not null references branches, visitedOn text not null, becameClient integer not null default 0
);
create table products (
  id integer primary key, name text not null, sku text not null unique, category text not null, priceMinor integer not null,
  currency text not null, supplier text not null, stock integer not null check (stock >= 0), reorderLevel integer not null
);
create table stock_changes (
  id integer primary key, productId integer not null references products on delete cascade, change integer not null,
  reason text not null, createdAt text not null
);
create table campaigns (
  id integer primary key, name text not null, channel text not null, status text not null, audience text not null,
  startsOn text not null, endsOn text not null, message text not null, budgetMinor integer not null, currency text not null,
  sent integer not null default 0, opened integer not null default 0, clicked integer not null default 0,
  converted integer not null default 0
);
create table equipment (
  id integer primary key, name text not null, serialNumber text not null unique, category text not null,
  branchId integer not null references branches, status text not null default 'in_use', purchasedOn text not null,
  lastMaintenanceOn text, maintenanceDays integer not null, nextMaintenanceOn text not null
);
create view equipment_rows as
  select e.id, e.name, serialNumber, category, branchId, b.name as branchName, status, purchasedOn, lastMaintenanceOn,
         nextMaintenanceOn, cast(julianday(nextMaintenanceOn) - julianday(today) as integer) as daysUntilMaintenance
  from equipment e join branches b on b.id = branchId, clock;
create table maintenance (
  id integer primary key, equipmentId integer not null references equipment on delete cascade, performedOn text not null,
  note text
);
create table custom_fields (
  id integer primary key, entityType text not null, key text not null, label text not null, type text not null,
  options text not null default '[]', isRequired integer not null default 0
);
create table custom_values (
  fieldId integer not null references custom_fields on delete cascade, entityId integer not null, value text not null,
  primary key (fieldId, entityId)
);

create table churn_resolutions (
  id integer primary key, clientId integer not null references clients on delete cascade, outcome text not null, note text,
  resolvedOn text not null
);
create view churn_rows as  -- active members who have been away for three weeks and were not talked to since
  select clientId, clientName, email, phone, branchId, lastVisitOn, daysAbsent, membershipEndsOn,
         case when daysAbsent >= 45 then 'high' when daysAbsent >= 30 then 'medium' else 'low' end as risk
  from (
    select c.id as clientId, firstName || ' ' || lastName as clientName, email, phone, branchId, lastVisitOn,
           cast(julianday(today) - julianday(coalesce(lastVisitOn, joinedOn)) as integer) as daysAbsent, membershipEndsOn
    from client_rows c, clock
    where status = 'active' and membershipStatus = 'active' and not exists (
      select 1 from churn_resolutions r where r.clientId = c.id and r.resolvedOn > date(today, '-21 days'))
  )
  where daysAbsent >= 21;
create table challenges (
  id integer primary key, name text not null, description text not null, startsOn text not null, endsOn text not null,
  targetPoints integer not null
);
create table participants (
  challengeId integer not null references challenges on delete cascade,
  clientId integer not null references clients on delete cascade, points integer not null default 0, joinedOn text not null,
  primary key (challengeId, clientId)
);
create view challenge_rows as
  select c.*, case when startsOn > today then 'upcoming' when endsOn < today then 'finished' else 'running' end as status,
         (select count(*) from participants p where p.challengeId = c.id) as participants
  from challenges c, clock;
create view leaderboard_rows as
  select challengeId, rank() over (partition by challengeId order by points desc) as rank, clientId,
         firstName || ' ' || lastName as clientName, points, p.joinedOn, points >= targetPoints as reachedTarget, branchId
  from participants p join clients c on c.id = clientId join challenges h on h.id = challengeId;
create table rewards (
  id integer primary key, name text not null, description text not null, costPoints integer not null,
  stock integer check (stock >= 0)
);
create table points_entries (
  id integer primary key, clientId integer not null references clients on delete cascade, points integer not null,
  reason text not null, rewardId integer references rewards, balance integer not null, createdAt text not null
);
create table wearables (
  id integer primary key, clientId integer not null references clients on delete cascade, provider text not null,
  status text not null default 'connected', connectedOn text not null, unique (clientId, provider)
);
create table wearable_days (
  wearableId integer not null references wearables on delete cascade, date text not null, steps integer not null,
  restingHeartRate integer not null, activeCalories integer not null, sleepMinutes integer not null,
  primary key (wearableId, date)
);
create view wearable_rows as
  select w.id, clientId, firstName || ' ' || lastName as clientName, provider, w.status, connectedOn,
         (select max(date) from wearable_days d where d.wearableId = w.id) as lastSyncOn
  from wearables w join clients c on c.id = clientId;
create table surveys (
  id integer primary key, title text not null, question text not null, isPublished integer not null default 1,
  opensOn text not null, closesOn text not null
);
create table survey_responses (
  id integer primary key, surveyId integer not null references surveys on delete cascade,
  clientId integer not null references clients on delete cascade, score integer not null, comment text,
  respondedOn text not null, unique (surveyId, clientId)
);
create view survey_rows as
  select s.id, title, question, case when not isPublished or opensOn > today then 'draft'
         when closesOn < today then 'closed' else 'open' end as status, opensOn, closesOn,
         (select count(*) from survey_responses r where r.surveyId = s.id) as responses
  from surveys s, clock;
