-- Answers of the read operations. A statement is named by its operationId. Its bind variables are the operation's
-- parameters in openapi.yaml (null if omitted), :today and :now. The document says whether the answer is one record or
-- a page. `operation.field` fills a list within the record of `operation`.

-- name: get_gym_info
select g.*, :branchId as branchId, b.*, :today as today,
       (select count(*) from clients where status = 'active' and branchId = coalesce(:branchId, branchId)) as activeClients,
       (select count(*) from staff where status <> 'left' and branchId = coalesce(:branchId, branchId)) as staff
from gym g, (select count(*) as branches, sum(capacity) as capacity from branches where id = coalesce(:branchId, id)) b
where b.branches > 0;

-- name: get_branches_info
select * from branch_rows
where (:city is null or city = :city collate nocase) and (:isOpen is null or isOpen = :isOpen)
order by id;

-- name: get_current_branch
select b.*, day as date,
       case when strftime('%w', day) in ('0', '6') then weekendOpens else weekdayOpens end as opensAt,
       case when strftime('%w', day) in ('0', '6') then weekendCloses else weekdayCloses end as closesAt,
       (select count(*) from visits v where v.branchId = b.id and date(checkedInAt) = day and checkedOutAt is null)
         as clientsInside
from gym, branch_rows b, (select coalesce(:date, :today) as day) where b.id = currentBranchId;

-- name: get_currencies
select code, name, minorPerMajor, :base as base, rate, r.rateDate
from currencies join rates r on r.fromCurrency = :base and r.toCurrency = code order by code;

-- name: convert_currency
select :amountMinor as amountMinor, fromCurrency, cast(round(:amountMinor * factor) as integer) as convertedMinor,
       toCurrency, rate, rateDate
from rates where fromCurrency = :fromCurrency and toCurrency = :toCurrency;

-- name: get_clients_list
select c.* from client_rows c
where (:name is null or instr(lower(firstName || ' ' || lastName), lower(:name)) > 0)
  and (:status is null or status = :status)
  and (:branchId is null or branchId = :branchId)
  and (:trainerId is null or trainerId = :trainerId)
  and (:membershipStatus is null or membershipStatus = :membershipStatus)
  and (:planId is null or planName = (select name from plans where id = :planId))
  and (:tag is null or exists (select 1 from json_each(tags) where value = :tag))
  and (:joinedFrom is null or joinedOn >= :joinedFrom)
  and (:joinedTo is null or joinedOn <= :joinedTo)
order by case :sort when 'lastName' then lastName when 'joinedOn' then joinedOn when 'lastVisitOn' then lastVisitOn
                    when 'loyaltyPoints' then loyaltyPoints end,
         case :sort when '-lastName' then lastName when '-joinedOn' then joinedOn when '-lastVisitOn' then lastVisitOn
                    when '-loyaltyPoints' then loyaltyPoints end desc, firstName, id;

-- name: get_client_birthdays
select id as clientId, firstName, lastName, email, phone, birthDate, birthdayOn,
       cast(strftime('%Y', birthdayOn) as integer) - cast(strftime('%Y', birthDate) as integer) as turns
from (
  select *, case when strftime('%m-%d', birthDate) >= strftime('%m-%d', :today)
                 then date(strftime('%Y', :today) || strftime('-%m-%d', birthDate))
                 else date((strftime('%Y', :today) + 1) || strftime('-%m-%d', birthDate)) end as birthdayOn
  from clients where status = 'active'
)
where (:month is null or cast(strftime('%m', birthDate) as integer) = :month)
  and (:days is null or birthdayOn <= date(:today, :days || ' days'))
  and (:branchId is null or branchId = :branchId)
order by birthdayOn, clientId;

-- name: get_client_details
select c.*, b.name as branchName, b.currency, s.firstName || ' ' || s.lastName as trainerName,
       (select count(*) from visits where clientId = c.id) as visits,
       (select coalesce(sum(cast(round(amountMinor * factor) as integer)), 0) from payments p
        join rates on fromCurrency = p.currency and toCurrency = b.currency where clientId = c.id) as paidMinor,
       (select count(*) from goals where clientId = c.id and status = 'active') as activeGoals
from client_rows c join branches b on b.id = c.branchId left join staff s on s.id = c.trainerId where c.id = :clientId;

-- name: get_client_details.diets
select dietId as id, dietName as name, startsOn from diet_assignment_rows where clientId = :clientId order by startsOn, id;

-- name: get_client_details.messages
select * from messages where clientId = :clientId order by sentAt desc, id desc limit 5;

-- name: get_client_payments
select * from payment_rows
where clientId = :clientId and (:dateFrom is null or paidOn >= :dateFrom) and (:dateTo is null or paidOn <= :dateTo)
  and (:kind is null or kind = :kind)
order by paidOn desc, id desc;

-- name: get_client_visits
select * from visit_rows
where clientId = :clientId and (:dateFrom is null or checkedInAt >= :dateFrom)
  and (:dateTo is null or checkedInAt < date(:dateTo, '+1 day'))
order by checkedInAt desc;

-- name: get_memberships
select * from membership_rows
where (:clientId is null or clientId = :clientId) and (:status is null or status = :status)
  and (:planId is null or planId = :planId) and (:branchId is null or branchId = :branchId)
  and (:endingFrom is null or endDate >= :endingFrom) and (:endingTo is null or endDate <= :endingTo)
  and (:autoRenew is null or autoRenew = :autoRenew)
order by endDate, id;

-- name: get_membership_stats
select count(*) as total, count(*) filter (where status = 'active') as active,
       count(*) filter (where status = 'frozen') as frozen, count(*) filter (where status = 'expired') as expired,
       count(*) filter (where status = 'cancelled') as cancelled,
       count(*) filter (where status = 'active' and endDate between :today and date(:today, '+30 days')) as endingIn30Days,
       count(*) filter (where startDate between date(:today, '-29 days') and :today) as startedIn30Days,
       coalesce(round(100.0 * count(*) filter (where status = 'active' and autoRenew)
                      / nullif(count(*) filter (where status = 'active'), 0), 1), 0) as autoRenewPercent
from membership_rows
where (:branchId is null or branchId = :branchId) and (:planId is null or planId = :planId);

-- name: get_membership_stats.byPlan
select planId, planName, count(*) filter (where status = 'active') as active from membership_rows
where (:branchId is null or branchId = :branchId) and (:planId is null or planId = :planId)
group by planId order by planId;

-- name: get_membership_history
select e.id, membershipId, planName, event, occurredOn, detail
from membership_events e join membership_rows m on m.id = membershipId
where clientId = :clientId and (:event is null or event = :event)
order by occurredOn desc, e.id desc;

-- name: get_attendance_today
select * from visit_rows
where checkedInAt >= :today and checkedInAt < date(:today, '+1 day') and (:branchId is null or branchId = :branchId)
  and (:stillInside is null or (checkedOutAt is null) = :stillInside)
order by checkedInAt desc, id desc;

-- name: get_attendance_by_date
select * from visit_rows
where checkedInAt >= :date and checkedInAt < date(:date, '+1 day') and (:branchId is null or branchId = :branchId)
order by checkedInAt, id;

-- name: get_attendance_stats
with period as (select coalesce(:dateFrom, date(:today, '-29 days')) as dateFrom, coalesce(:dateTo, :today) as dateTo),
visited as (
  select v.*, date(checkedInAt) as day, cast(strftime('%H', checkedInAt) as integer) as hour from visits v, period
  where checkedInAt >= dateFrom and checkedInAt < date(dateTo, '+1 day') and (:branchId is null or branchId = :branchId)
)
select dateFrom, dateTo, count(v.id) as visits, count(distinct clientId) as uniqueClients,
       round(count(v.id) / max(1, julianday(dateTo) - julianday(dateFrom) + 1), 2) as averagePerDay,
       round(avg(julianday(checkedOutAt) - julianday(checkedInAt)) * 1440, 1) as averageMinutes,
       (select day from visited group by day order by count(*) desc, day limit 1) as busiestDay,
       (select hour from visited group by hour order by count(*) desc, hour limit 1) as busiestHour
from period left join visited v on true;

-- name: get_attendance_report
select coalesce(:dateFrom, date(:today, '-29 days')) as dateFrom, coalesce(:dateTo, :today) as dateTo,
       :groupBy as groupBy, count(*) as visits
from visits
where checkedInAt >= coalesce(:dateFrom, date(:today, '-29 days'))
  and checkedInAt < date(coalesce(:dateTo, :today), '+1 day') and (:branchId is null or branchId = :branchId);

-- name: get_attendance_report.groups
select case :groupBy when 'day' then date(checkedInAt) when 'week' then date(checkedInAt, '-6 days', 'weekday 1')
                     when 'month' then strftime('%Y-%m', checkedInAt) when 'weekday' then strftime('%w', checkedInAt)
                     else branchName end as key,
       count(*) as visits, count(distinct clientId) as uniqueClients
from visit_rows
where checkedInAt >= coalesce(:dateFrom, date(:today, '-29 days'))
  and checkedInAt < date(coalesce(:dateTo, :today), '+1 day') and (:branchId is null or branchId = :branchId)
group by 1 order by 1;

-- name: get_revenue_stats
select coalesce(:dateFrom, date(:today, '-29 days')) as dateFrom, coalesce(:dateTo, :today) as dateTo,
       :currency as currency, :groupBy as groupBy, count(*) as payments,
       cast(round(coalesce(sum(amountMinor * factor), 0)) as integer) as amountMinor,
       cast(round(coalesce(sum(amountMinor * factor) filter (where kind = 'membership'), 0)) as integer) as membershipMinor,
       cast(round(coalesce(sum(amountMinor * factor) filter (where kind = 'product'), 0)) as integer) as productMinor,
       cast(round(coalesce(sum(amountMinor * factor) filter (where kind = 'personal_training'), 0)) as integer)
         as personalTrainingMinor
from payments join rates on fromCurrency = currency and toCurrency = :currency
where paidOn between coalesce(:dateFrom, date(:today, '-29 days')) and coalesce(:dateTo, :today)
  and (:branchId is null or branchId = :branchId);

-- name: get_revenue_stats.groups
select case :groupBy when 'day' then paidOn when 'week' then date(paidOn, '-6 days', 'weekday 1')
                     when 'month' then strftime('%Y-%m', paidOn) when 'weekday' then strftime('%w', paidOn)
                     else b.name end as key,
       cast(round(sum(amountMinor * factor)) as integer) as amountMinor, count(*) as payments
from payments p join branches b on b.id = branchId join rates on fromCurrency = p.currency and toCurrency = :currency
where paidOn between coalesce(:dateFrom, date(:today, '-29 days')) and coalesce(:dateTo, :today)
  and (:branchId is null or branchId = :branchId)
group by 1 order by 1;

-- name: get_membership_sales
select coalesce(:dateFrom, date(:today, '-29 days')) as dateFrom, coalesce(:dateTo, :today) as dateTo,
       :currency as currency, count(*) as sold, cast(round(coalesce(sum(amountMinor * factor), 0)) as integer) as amountMinor
from payments join rates on fromCurrency = currency and toCurrency = :currency
where kind = 'membership' and paidOn between coalesce(:dateFrom, date(:today, '-29 days')) and coalesce(:dateTo, :today)
  and (:branchId is null or branchId = :branchId) and (:planId is null or planId = :planId);

-- name: get_membership_sales.plans
select planId, l.name as planName, count(*) as sold, cast(round(sum(amountMinor * factor)) as integer) as amountMinor
from payments p join plans l on l.id = planId join rates on fromCurrency = p.currency and toCurrency = :currency
where kind = 'membership' and paidOn between coalesce(:dateFrom, date(:today, '-29 days')) and coalesce(:dateTo, :today)
  and (:branchId is null or branchId = :branchId) and (:planId is null or planId = :planId)
group by planId order by 4 desc, 1;

-- name: get_trainers_list
select * from trainer_rows
where (:name is null or instr(lower(firstName || ' ' || lastName), lower(:name)) > 0)
  and (:branchId is null or branchId = :branchId) and (:specialty is null or specialty = :specialty)
order by lastName, firstName, id;

-- name: get_trainers_stats
with period as (
  select coalesce(:dateFrom, date(:today, '-29 days')) as first, date(coalesce(:dateTo, :today), '+1 day') as ending
), given as (
  select trainerId, count(*) as sessions, sum(booked) as bookings, round(100.0 * sum(booked) / sum(capacity), 1) as fillPercent
  from session_rows, period where startsAt >= first and startsAt < ending group by trainerId
)
select t.id as trainerId, firstName || ' ' || lastName as trainerName, clients, coalesce(sessions, 0) as sessions,
       coalesce(bookings, 0) as bookings, fillPercent,
       (select count(*) from appointments a, period where a.trainerId = t.id and startsAt >= first and startsAt < ending)
         as appointments
from trainer_rows t left join given on given.trainerId = t.id
where (:branchId is null or branchId = :branchId) and (:trainerId is null or t.id = :trainerId)
order by t.id;

-- name: get_enquiries_list
select * from enquiries
where (:status is null or status = :status) and (:source is null or source = :source)
  and (:branchId is null or branchId = :branchId) and (:createdFrom is null or createdOn >= :createdFrom)
order by createdOn desc, id desc;

-- name: get_staff_list
select * from staff
where (:name is null or instr(lower(firstName || ' ' || lastName), lower(:name)) > 0) and (:role is null or role = :role)
  and (:branchId is null or branchId = :branchId) and (:status is null or status = :status)
order by lastName, firstName, id;

-- name: get_staff_details
select * from staff where id = :staffId;

-- name: get_salary_stats
with chosen as (select coalesce(:month, (select max(month) from salaries)) as month),
amounts as (
  select s.status, amountMinor * factor as amountMinor from salary_rows s join chosen c on c.month = s.month
  join rates on fromCurrency = currency and toCurrency = :currency where (:branchId is null or branchId = :branchId)
)
select month, :currency as currency, count(a.status) as employees, count(*) filter (where status = 'paid') as paid,
       count(*) filter (where status = 'pending') as pending,
       cast(round(coalesce(sum(amountMinor), 0)) as integer) as amountMinor,
       cast(round(coalesce(sum(amountMinor) filter (where status = 'paid'), 0)) as integer) as paidMinor,
       cast(round(coalesce(sum(amountMinor) filter (where status = 'pending'), 0)) as integer) as pendingMinor,
       cast(round(coalesce(avg(amountMinor), 0)) as integer) as averageMinor
from chosen left join amounts a on true;

-- name: get_pending_salaries
select * from salary_rows
where status = 'pending' and (:month is null or month = :month) and (:branchId is null or branchId = :branchId)
  and (:role is null or role = :role)
order by month, staffId;

-- name: get_salary_history
select * from salary_rows
where staffId = :staffId and (:monthFrom is null or month >= :monthFrom) and (:monthTo is null or month <= :monthTo)
order by month desc;

-- name: get_amenities_list
select * from facility_rows
where (:branchId is null or branchId = :branchId) and (:category is null or category = :category)
  and (:status is null or status = :status)
order by branchId, name, id;

-- name: get_diet_plans
select * from diet_rows d
where (:goal is null or goal = :goal) and (:maxCalories is null or caloriesPerDay <= :maxCalories)
  and (:clientId is null or exists (select 1 from diet_assignments a where a.dietId = d.id and a.clientId = :clientId))
order by name;

-- name: get_diet_details
select * from diet_rows where id = :dietId;

-- name: get_membership_plans
select p.* from plan_rows p join rates on fromCurrency = currency and toCurrency = 'EUR'
where (:isActive is null or isActive = :isActive) and (:maxPriceMinor is null or priceMinor <= :maxPriceMinor)
  and (:classesIncluded is null or classesIncluded = :classesIncluded)
order by priceMinor * factor, id;

-- name: get_offers_list
select * from offer_rows
where (:status is null or status = :status) and (:planId is null or coalesce(planId, :planId) = :planId)
order by validUntil desc, id;

-- name: get_leads_list
select * from lead_rows
where (:name is null or instr(lower(name), lower(:name)) > 0) and (:stage is null or stage = :stage)
  and (:ownerId is null or ownerId = :ownerId) and (:unassigned is null or (ownerId is null) = :unassigned)
  and (:source is null or source = :source) and (:branchId is null or branchId = :branchId)
  and (:notContactedSince is null or coalesce(lastContactOn, createdOn) < :notContactedSince)
order by createdOn desc, id desc;

-- name: get_lead_pipeline
select :currency as currency, count(*) as leads,
       cast(round(coalesce(sum(valueMinor * factor) filter (where stage not in ('won', 'lost')), 0)) as integer) as valueMinor,
       cast(round(coalesce(sum(valueMinor * factor * probabilityPercent / 100) filter (where stage not in ('won', 'lost')), 0))
            as integer) as weightedMinor,
       round(100.0 * count(*) filter (where stage = 'won') / nullif(count(*) filter (where stage in ('won', 'lost')), 0), 1)
         as conversionPercent
from leads join stages using (stage) join rates on fromCurrency = currency and toCurrency = :currency
where (:ownerId is null or ownerId = :ownerId) and (:branchId is null or branchId = :branchId)
  and (:createdFrom is null or createdOn >= :createdFrom);

-- name: get_lead_pipeline.stages
select s.stage, count(l.id) as leads, cast(round(coalesce(sum(valueMinor * factor), 0)) as integer) as valueMinor,
       probabilityPercent,
       cast(round(coalesce(sum(valueMinor * factor * probabilityPercent / 100), 0)) as integer) as weightedMinor
from stages s
left join leads l on l.stage = s.stage and (:ownerId is null or ownerId = :ownerId)
  and (:branchId is null or branchId = :branchId) and (:createdFrom is null or createdOn >= :createdFrom)
left join rates on fromCurrency = currency and toCurrency = :currency
group by s.stage order by position;

-- name: get_lead_details
select * from lead_rows where id = :leadId;

-- name: get_lead_details.followUps
select * from follow_ups where leadId = :leadId order by createdAt desc, id desc;

-- name: get_referrals_list
select * from referral_rows
where (:status is null or status = :status) and (:clientId is null or clientId = :clientId)
order by createdOn desc, id desc;

-- name: get_referral_details
select * from referral_rows where id = :referralId;

-- name: get_referral_stats
select count(*) as total, count(*) filter (where status = 'pending') as pending,
       count(*) filter (where status = 'converted') as converted, count(*) filter (where status = 'expired') as expired,
       round(100.0 * count(*) filter (where status = 'converted') / nullif(count(*), 0), 1) as conversionPercent,
       coalesce(sum(rewardPoints) filter (where status = 'converted'), 0) as pointsAwarded
from referrals where :createdFrom is null or createdOn >= :createdFrom;

-- name: get_referral_stats.topReferrers
select clientId, clientName, count(*) as referrals, count(*) filter (where status = 'converted') as converted
from referral_rows where :createdFrom is null or createdOn >= :createdFrom
group by clientId order by 3 desc, 4 desc, 1 limit 5;

-- name: get_document_templates
select * from document_template_rows t
where (:kind is null or kind = :kind) and (:isRequired is null or isRequired = :isRequired)
  and (:missingForClientId is null
       or not exists (select 1 from signed_documents s where s.templateId = t.id and s.clientId = :missingForClientId))
order by title;

-- name: get_signed_documents
select * from signed_document_rows
where (:clientId is null or clientId = :clientId) and (:templateId is null or templateId = :templateId)
  and (:kind is null or kind = :kind)
order by signedAt desc, id desc;

-- name: get_member_goals
select * from goal_rows
where clientId = :clientId and (:status is null or status = :status) and (:kind is null or kind = :kind)
order by createdOn desc, id desc;

-- name: get_goal_details
select * from goal_rows where id = :goalId;

-- name: get_goal_details.milestones
select * from milestones where goalId = :goalId order by targetValue, id;

-- name: get_goal_details.progress
select * from progress where goalId = :goalId order by recordedOn desc, id desc;

-- name: get_member_photos
select * from photos
where clientId = :clientId and (:kind is null or kind = :kind) and (:dateFrom is null or takenOn >= :dateFrom)
  and (:dateTo is null or takenOn <= :dateTo)
order by takenOn desc, id desc;

-- name: get_photo_details
select p.*, firstName || ' ' || lastName as clientName,
       (select o.id from photos o where o.clientId = p.clientId and o.kind = p.kind and o.takenOn < p.takenOn
        order by o.takenOn desc) as previousPhotoId
from photos p join clients c on c.id = clientId where p.id = :photoId;

-- name: get_member_notes
select * from note_rows
where clientId = :clientId and (:category is null or category = :category)
  and (:text is null or instr(lower(text), lower(:text)) > 0)
order by createdAt desc, id desc;

-- name: get_class_types
select * from class_type_rows
where (:category is null or category = :category) and (:difficulty is null or difficulty = :difficulty)
order by name;

-- name: get_class_sessions
select * from session_rows
where startsAt >= coalesce(:dateFrom, :today)
  and startsAt < date(coalesce(:dateTo, date(coalesce(:dateFrom, :today), '+6 days')), '+1 day')
  and (:classTypeId is null or classTypeId = :classTypeId) and (:trainerId is null or trainerId = :trainerId)
  and (:branchId is null or branchId = :branchId) and (:hasPlaces is null or (placesLeft > 0) = :hasPlaces)
order by startsAt, id;

-- name: get_session_bookings
select * from booking_rows where sessionId = :sessionId and (:status is null or status = :status) order by bookedAt, id;

-- name: get_services
select * from services
where (:category is null or category = :category) and (:maxPriceMinor is null or priceMinor <= :maxPriceMinor)
order by id;

-- name: get_available_slots
with recursive grid (beginning) as (  -- back to back from 08:00 to 20:00
  select julianday(:date || 'T08:00:00')
  union all
  select beginning + durationMinutes / 1440.0 from grid, services
  where id = :serviceId and beginning + 2 * durationMinutes / 1440.0 < julianday(:date || 'T20:00:00') + 0.0001
), slots as (
  select id as serviceId, strftime('%Y-%m-%dT%H:%M:00Z', beginning + 0.0001) as startsAt,
         strftime('%Y-%m-%dT%H:%M:00Z', beginning + durationMinutes / 1440.0 + 0.0001) as endsAt
  from grid, services where id = :serviceId
)
select serviceId, t.id as trainerId, firstName || ' ' || lastName as trainerName, branchId, s.startsAt, s.endsAt
from slots s, trainer_rows t
where t.status = 'active' and s.startsAt > :now and (:trainerId is null or t.id = :trainerId)
  and (:branchId is null or branchId = :branchId)
  and not exists (select 1 from appointments a where a.trainerId = t.id and a.status = 'booked'
                  and a.startsAt < s.endsAt and a.endsAt > s.startsAt)
  and not exists (select 1 from sessions c where c.trainerId = t.id and c.startsAt < s.endsAt and c.endsAt > s.startsAt)
order by s.startsAt, t.id;

-- name: get_appointments
select * from appointment_rows
where startsAt >= coalesce(:dateFrom, :today)
  and startsAt < date(coalesce(:dateTo, date(coalesce(:dateFrom, :today), '+6 days')), '+1 day')
  and (:clientId is null or clientId = :clientId) and (:trainerId is null or trainerId = :trainerId)
  and (:status is null or status = :status)
order by startsAt, id;

-- name: get_guest_visits
select g.*, firstName || ' ' || lastName as hostName from guest_visits g left join clients c on c.id = hostClientId
where visitedOn between coalesce(:dateFrom, date(:today, '-29 days')) and coalesce(:dateTo, :today)
  and (:branchId is null or g.branchId = :branchId) and (:hostClientId is null or hostClientId = :hostClientId)
order by visitedOn desc, g.id desc;

-- name: get_guest_visit_stats
select coalesce(:dateFrom, date(:today, '-29 days')) as dateFrom, coalesce(:dateTo, :today) as dateTo, count(*) as visits,
       count(distinct guestName) as uniqueGuests, count(hostClientId) as withHost,
       coalesce(sum(becameClient), 0) as becameClients,
       round(100.0 * sum(becameClient) / nullif(count(*), 0), 1) as conversionPercent
from guest_visits
where visitedOn between coalesce(:dateFrom, date(:today, '-29 days')) and coalesce(:dateTo, :today)
  and (:branchId is null or branchId = :branchId);

-- name: get_products
select * from products
where (:name is null or instr(lower(name), lower(:name)) > 0) and (:category is null or category = :category)
  and (:supplier is null or supplier = :supplier collate nocase)
order by name, id;

-- name: get_low_stock_products
select * from products
where stock <= coalesce(:threshold, reorderLevel) and (:category is null or category = :category)
order by stock - reorderLevel, id;

-- name: get_campaigns
select * from campaigns
where (:status is null or status = :status) and (:channel is null or channel = :channel)
order by startsOn desc, id;

-- name: get_campaign_details
select *, round(100.0 * opened / nullif(sent, 0), 1) as openPercent,
       round(100.0 * clicked / nullif(sent, 0), 1) as clickPercent,
       cast(round(1.0 * budgetMinor / nullif(converted, 0)) as integer) as costPerConversionMinor
from campaigns where id = :campaignId;

-- name: get_equipment
select * from equipment_rows
where (:branchId is null or branchId = :branchId) and (:category is null or category = :category)
  and (:status is null or status = :status)
order by id;

-- name: get_upcoming_maintenance
select * from equipment_rows
where daysUntilMaintenance <= :days and (:branchId is null or branchId = :branchId)
order by nextMaintenanceOn, id;

-- name: get_custom_fields
select * from custom_fields
where (:entityType is null or entityType = :entityType) and (:isRequired is null or isRequired = :isRequired)
order by id;

-- name: get_entity_custom_values
select id as fieldId, key, label, type, value
from custom_fields left join custom_values on fieldId = id and entityId = :entityId
where entityType = :entityType order by id;

-- name: get_engagement_dashboard
with visited as (
  select v.clientId from visits v join clients c on c.id = clientId
  where checkedInAt >= date(:today, (1 - :days) || ' days') and checkedInAt < date(:today, '+1 day') and c.status = 'active'
    and (:branchId is null or c.branchId = :branchId)
), active as (select count(*) as clients from clients where status = 'active' and (:branchId is null or branchId = :branchId))
select :days as days, clients as activeClients, count(distinct clientId) as visitingClients,
       round(100.0 * count(distinct clientId) / nullif(clients, 0), 1) as engagementPercent, count(clientId) as visits,
       round(1.0 * count(clientId) / nullif(count(distinct clientId), 0), 2) as visitsPerClient,
       (select count(*) from bookings b join sessions s on s.id = sessionId
        where b.status <> 'waitlisted' and startsAt >= date(:today, (1 - :days) || ' days') and startsAt < date(:today, '+1 day')
          and (:branchId is null or branchId = :branchId)) as classBookings,
       (select count(*) from churn_rows where :branchId is null or branchId = :branchId) as atRiskClients
from active left join visited on true;

-- name: get_churn_alerts
select * from churn_rows
where daysAbsent >= :minDaysAbsent and (:risk is null or risk = :risk) and (:branchId is null or branchId = :branchId)
order by daysAbsent desc, clientId;

-- name: get_challenges
select * from challenge_rows c
where (:status is null or status = :status)
  and (:clientId is null or exists (select 1 from participants p where p.challengeId = c.id and p.clientId = :clientId))
order by startsOn desc, id;

-- name: get_challenge_leaderboard
select * from leaderboard_rows
where challengeId = :challengeId and (:branchId is null or branchId = :branchId) order by rank, clientId;

-- name: get_loyalty_dashboard
select (select count(*) from clients where loyaltyPoints > 0 and (:branchId is null or branchId = :branchId)) as members,
       (select coalesce(sum(loyaltyPoints), 0) from clients where :branchId is null or branchId = :branchId)
         as pointsOutstanding,
       coalesce(sum(points) filter (where points > 0), 0) as pointsAwarded30Days,
       coalesce(-sum(points) filter (where points < 0), 0) as pointsRedeemed30Days
from points_entries e join clients c on c.id = clientId
where createdAt >= date(:today, '-29 days') and (:branchId is null or branchId = :branchId);

-- name: get_loyalty_dashboard.topClients
select id as clientId, firstName || ' ' || lastName as clientName, loyaltyPoints from clients
where loyaltyPoints > 0 and (:branchId is null or branchId = :branchId) order by loyaltyPoints desc, id limit :top;

-- name: get_available_rewards
select * from rewards
where (stock is null or stock > 0) and (:maxPoints is null or costPoints <= :maxPoints)
  and (:clientId is null or costPoints <= (select loyaltyPoints from clients where id = :clientId))
order by costPoints, id;

-- name: get_wearable_connections
select * from wearable_rows
where (:clientId is null or clientId = :clientId) and (:provider is null or provider = :provider)
  and (:status is null or status = :status)
order by id;

-- name: get_user_wearable_data
select d.*, provider from wearable_days d join wearables w on w.id = wearableId
where clientId = :clientId and (:dateFrom is null or date >= :dateFrom) and (:dateTo is null or date <= :dateTo)
  and (:provider is null or provider = :provider)
order by date desc, provider;

-- name: get_surveys
select * from survey_rows where :status is null or status = :status order by opensOn desc, id;

-- name: get_survey_analytics
with answers as (
  select r.* from survey_responses r join clients c on c.id = clientId
  where surveyId = :surveyId and (:branchId is null or branchId = :branchId)
)
select s.id as surveyId, title, count(a.id) as responses, round(avg(score), 2) as averageScore,
       count(*) filter (where score >= 9) as promoters, count(*) filter (where score between 7 and 8) as passives,
       count(*) filter (where score <= 6) as detractors,
       round(100.0 * (count(*) filter (where score >= 9) - count(*) filter (where score <= 6)) / nullif(count(a.id), 0), 1)
         as netPromoterScore,
       (select json_group_array(comment) from (
          select comment from answers where comment is not null order by respondedOn desc, id desc limit 10)) as comments
from surveys s left join answers a on true where s.id = :surveyId group by s.id;

-- name: get_survey_analytics.scores
select score, count(*) as responses from survey_responses r join clients c on c.id = clientId
where surveyId = :surveyId and (:branchId is null or branchId = :branchId) group by score order by score;
