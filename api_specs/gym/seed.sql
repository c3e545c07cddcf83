-- A gym with two years of history. seed.py adds functions that draw from a random generator with a fixed seed:
-- day(n), moment(n, minutes), draw(low, high), pick(…), first_name(), last_name(), phone().
-- Random values are drawn once, on insertion; values derived from them are filled in by an update.
create temp table series as
  with recursive s (n) as (select 0 union all select n + 1 from s where n < 730) select n, day(-n) as day from s;

insert into currencies values
  ('EUR', 'Euro', 100, 1.0, day(-1)), ('GBP', 'Pound sterling', 100, 0.85, day(-1)),
  ('CHF', 'Swiss franc', 100, 0.94, day(-1)), ('USD', 'US dollar', 100, 1.09, day(-1)),
  ('JPY', 'Japanese yen', 1, 163.2, day(-1)), ('PLN', 'Polish zloty', 100, 4.28, day(-1));
insert into branches (name, city, address, phone, currency, capacity, openedOn) values
  ('Northlight Mitte', 'Berlin', 'Torstrasse 12', '+49 30 5550100', 'EUR', 140, day(-2900)),
  ('Northlight Kreuzberg', 'Berlin', 'Oranienstrasse 88', '+49 30 5550200', 'EUR', 110, day(-1700)),
  ('Northlight Camden', 'London', '41 Camden Road', '+44 20 5550300', 'GBP', 120, day(-1300)),
  ('Northlight Seefeld', 'Zurich', 'Seefeldstrasse 7', '+41 44 5550400', 'CHF', 90, day(-900)),
  ('Northlight Praga', 'Warsaw', 'Zabkowska 27', null, 'PLN', 100, day(60));
insert into gym values
  ('Northlight Fitness', 'Northlight Fitness GmbH', 'office@northlight.example', '+49 30 5550100', 'EUR', 'light', 'dashboard', 1);

-- staff ----------------------------------------------------------------------------------------------
insert into staff (firstName, lastName, email, phone, role, specialty, branchId, hiredOn, salaryMinor, currency)
with roles (place, role, salary) as (values (1, 'manager', 420000), (2, 'sales', 290000), (3, 'trainer', 310000),
  (4, 'trainer', 310000), (5, 'trainer', 310000), (6, 'receptionist', 240000), (7, 'cleaner', 210000))
select first_name(), last_name(), 'staff' || b.id || place, phone(), role, null, b.id, day(-draw(100, 900)),
       cast(round((salary + 1000 * draw(0, 39)) * factor) as integer), b.currency
from branches b, roles join rates on fromCurrency = 'EUR' and toCurrency = b.currency where b.id < 5 order by b.id, place;
update staff set email = lower(firstName || '.' || lastName || id || '@northlight.example');
update staff set specialty = case (id + id / 7) % 6 when 0 then 'strength' when 1 then 'yoga' when 2 then 'cardio'
  when 3 then 'pilates' when 4 then 'crossfit' else 'swimming' end where role = 'trainer';
update staff set status = 'on_leave' where id = 28;
insert into salaries (staffId, month, baseMinor, bonusMinor, status, paidOn, paymentMethod)
select id, strftime('%Y-%m', day(0), 'start of month', -n || ' months'), salaryMinor, pick(0, 0, 0, 10000, 25000), 'paid',
       date(day(0), 'start of month', (1 - n) || ' months', '-1 day'), 'bank_transfer'
from series, staff where n between 1 and 8 order by n desc, id;
update salaries set deductionsMinor = bonusMinor / 10;
update salaries set status = 'pending', paidOn = null, paymentMethod = null
where draw(1, 100) <= case month when strftime('%Y-%m', day(0), 'start of month', '-1 months') then 60
                                 when strftime('%Y-%m', day(0), 'start of month', '-2 months') then 8 else 0 end;

-- products and plans ------------------------------------------------------------------------------------------------------
insert into plans (name, description, durationDays, priceMinor, currency, classesIncluded, maxFreezeDays, isActive) values
  ('Monthly', 'One month, all opening hours', 30, 4990, 'EUR', 0, 30, 1),
  ('Gold', 'One year, all branches, classes and sauna', 365, 59900, 'EUR', 1, 90, 1),
  ('Quarterly', 'Three months, all opening hours', 90, 13490, 'EUR', 0, 30, 1),
  ('Student', 'Six months, for students', 180, 17900, 'EUR', 1, 60, 1),
  ('Off-peak', 'One year, weekdays until 16:00', 365, 34900, 'EUR', 0, 60, 1),
  ('Founders', 'One year at the price of the first days', 365, 29900, 'EUR', 1, 90, 0),
  ('Ten visits', 'Ten visits within half a year', 180, 11900, 'EUR', 0, 0, 1);
insert into offers (code, title, discountPercent, planId, validFrom, validUntil, maxRedemptions, redemptions) values
  ('SPRING20', 'Spring sale', 20, null, day(-14), day(30), null, 41),
  ('GOLD10', 'Ten percent off Gold', 10, 2, day(-60), day(120), null, 18),
  ('NEWYEAR25', 'New year offer', 25, null, day(-80), day(-30), null, 77),
  ('STUDENT15', 'Students save', 15, 4, day(-200), day(200), 100, 36),
  ('FIRST50', 'Half price for the first fifty', 50, null, day(-20), day(20), 50, 50),
  ('SUMMER30', 'Summer sale', 30, null, day(60), day(150), null, 0);
insert into services (name, category, durationMinutes, priceMinor, currency, description) values
  ('Personal training', 'personal_training', 60, 6500, 'EUR', 'One hour with a trainer'),
  ('Fitness assessment', 'assessment', 45, 3900, 'EUR', 'Strength, endurance and mobility measured'),
  ('Sports massage', 'therapy', 30, 4200, 'EUR', 'Massage after training'),
  ('Nutrition advice', 'nutrition', 60, 5500, 'EUR', 'A diet plan for your goal'),
  ('Technique check', 'assessment', 30, 2900, 'EUR', 'Squat and deadlift on video');
insert into products (name, sku, category, priceMinor, currency, supplier, stock, reorderLevel) values
  ('Whey protein 1 kg', 'SUP-001', 'supplements', 2990, 'EUR', 'Nordvital', 34, 12),
  ('Creatine 500 g', 'SUP-002', 'supplements', 2190, 'EUR', 'Nordvital', 9, 10),
  ('Vegan protein 1 kg', 'SUP-003', 'supplements', 3190, 'EUR', 'Greenpeak', 4, 8),
  ('Magnesium tablets', 'SUP-004', 'supplements', 990, 'EUR', 'Nordvital', 51, 15),
  ('Isotonic drink', 'DRI-001', 'drinks', 250, 'EUR', 'Quellhof', 140, 60),
  ('Mineral water', 'DRI-002', 'drinks', 180, 'EUR', 'Quellhof', 38, 80),
  ('Protein shake', 'DRI-003', 'drinks', 420, 'EUR', 'Greenpeak', 66, 24),
  ('Protein bar', 'SNA-001', 'snacks', 290, 'EUR', 'Greenpeak', 25, 40),
  ('Nut mix', 'SNA-002', 'snacks', 240, 'EUR', 'Greenpeak', 47, 20),
  ('Training shirt', 'APP-001', 'apparel', 2490, 'EUR', 'Stitchwork', 22, 10),
  ('Hoodie', 'APP-002', 'apparel', 4490, 'EUR', 'Stitchwork', 3, 6),
  ('Towel', 'ACC-001', 'accessories', 1290, 'EUR', 'Stitchwork', 40, 15),
  ('Lifting straps', 'ACC-002', 'accessories', 1590, 'EUR', 'Ironline', 11, 5),
  ('Water bottle', 'ACC-003', 'accessories', 1190, 'EUR', 'Ironline', 0, 12),
  ('Yoga mat', 'ACC-004', 'accessories', 3490, 'EUR', 'Ironline', 18, 6);

-- members, one membership after the other until today or until they leave, and their visits ---------------------------
insert into clients (firstName, lastName, email, phone, birthDate, branchId, joinedOn, tags)
select first_name(), last_name(), 'client' || n, case when n % 12 then phone() end, day(-draw(17 * 365, 68 * 365)),
       pick(1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4), day(-draw(3, 729)),
       pick('[]', '[]', '[]', '["vip"]', '["student"]', '["corporate", "early bird"]')
from series where n between 1 and 480;
update clients set firstName = 'John', lastName = 'Carter', branchId = 1, joinedOn = day(-400) where id = 5;
update clients set email = lower(firstName || '.' || lastName || id || '@example.com'),
  trainerId = case when id % 3 = 0 then (branchId - 1) * 7 + 3 + id / 3 % 3 end;
insert into memberships (clientId, planId, status, startDate, endDate, autoRenew, priceMinor, currency)
with recursive held (clientId, planId, startDate) as (
  select id, case when id = 5 then 2 when joinedOn < day(-690) then 6
                  else pick(1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 7, 7) end, joinedOn from clients
  union all
  select clientId, planId, date(startDate, durationDays || ' days') from held join plans on id = planId
  where date(startDate, durationDays || ' days') <= day(0) and (clientId = 5 or draw(1, 100) > 4)
)
select clientId, planId, 'active', startDate, date(startDate, (durationDays - 1) || ' days'), draw(0, 1), priceMinor, currency
from held join plans p on p.id = planId order by clientId, startDate;
update memberships set status = 'expired' where endDate < day(0);
insert into membership_events (membershipId, event, occurredOn)
select id, case when lag(clientId) over (order by id) = clientId then 'renewed' else 'created' end, startDate from memberships
union all select id, 'expired', date(endDate, '+1 days') from memberships where status = 'expired' order by 3, 1;
update memberships set status = 'frozen', frozenFrom = day(-3), frozenUntil = day(draw(4, 24)),
  freezeReason = pick('holiday', 'injury', 'business trip') where status = 'active' and clientId % 19 = 0;
update memberships set endDate = date(endDate, (julianday(frozenUntil) - julianday(frozenFrom) + 1) || ' days') where status = 'frozen';
insert into membership_events (membershipId, event, occurredOn, detail)
select id, 'frozen', frozenFrom, freezeReason from memberships where status = 'frozen';
insert into payments (clientId, branchId, kind, planId, amountMinor, currency, method, paidOn)
select clientId, c.branchId, 'membership', planId, cast(round(priceMinor * factor) as integer), toCurrency,
       pick('card', 'direct_debit', 'bank_transfer', 'cash'), startDate
from memberships m join clients c on c.id = clientId join branches b on b.id = c.branchId
join rates on fromCurrency = m.currency and toCurrency = b.currency order by startDate, m.id;
insert into payments (clientId, branchId, kind, amountMinor, currency, method, paidOn)
select clientId, branchId, kind, cast(round(price * factor) as integer), toCurrency, pick('card', 'card', 'cash'), paidOn
from (select draw(1, 480) as clientId, pick('product', 'product', 'personal_training') as kind, 10 * draw(25, 600) as price,
             day(-n / 2) as paidOn from series order by n)
join clients c on c.id = clientId join branches b on b.id = branchId
join rates on fromCurrency = 'EUR' and toCurrency = b.currency;
update clients set status = 'inactive'
where id % 11 > 0 and id not in (select clientId from memberships where status in ('active', 'frozen'));
update clients set status = 'blocked' where id % 97 = 0;
insert into visits (clientId, branchId, checkedInAt)
select id, branchId, moment(-n, pick(400, 500, 640, 1020, 1080, 1140) + draw(0, 59))
from series, clients
where n < 150 and joinedOn <= day and n >= case when status <> 'active' then 30 when id % 9 = 0 then 22 + id % 48 else 0 end
  and draw(0, 999) < 60 + id * 37 % 340  -- each at a pace of their own; some have stayed away for a while
order by n desc;
delete from visits where checkedInAt > (select now from clock);
update visits set checkedOutAt = strftime('%Y-%m-%dT%H:%M:%SZ', checkedInAt, draw(35, 119) || ' minutes');
update visits set checkedOutAt = null where checkedOutAt > (select now from clock);

-- classes and appointments --------------------------------------------------------------------------------------------
insert into class_types (name, category, durationMinutes, difficulty, description) values
  ('Yoga flow', 'yoga', 60, 'beginner', 'Flowing sequences for strength and calm'),
  ('Power yoga', 'yoga', 75, 'advanced', 'Demanding sequences'),
  ('Pilates mat', 'pilates', 50, 'beginner', 'Core strength on the mat'),
  ('Zumba', 'cardio', 50, 'beginner', 'Dance to Latin music'),
  ('Spinning', 'cardio', 45, 'intermediate', 'Interval training on the bike'),
  ('CrossFit basics', 'crossfit', 60, 'intermediate', 'Weights and gymnastics'),
  ('Body pump', 'strength', 55, 'intermediate', 'Barbell training with music'),
  ('Aqua fit', 'swimming', 45, 'beginner', 'Gymnastics in the water');
insert into sessions (classTypeId, trainerId, branchId, room, startsAt, endsAt, capacity)
select draw(1, 8), id, branchId, 'Studio ' || (id % 2 + 1),
       moment(n - 28, 60 * case id % 7 when 3 then 9 when 4 then 17 else 19 end), '', pick(8, 10, 12, 16)
from series, staff where n <= 42 and role = 'trainer' order by n, id;
update sessions set endsAt = strftime('%Y-%m-%dT%H:%M:%SZ', startsAt,
  (select durationMinutes from class_types t where t.id = classTypeId) || ' minutes');
insert into bookings (sessionId, clientId, status, bookedAt)
with active as materialized (select id, branchId from client_rows where status = 'active' and membershipStatus = 'active'),
local as materialized (select branchId, count(*) as members from active group by branchId)
select s.id, a.id, 'booked', moment(min(0, julianday(substr(startsAt, 1, 10)) - julianday(day(0)) - 3), draw(0, 600))
from sessions s join local using (branchId) join active a using (branchId)
where draw(0, 9999) < 1000 * capacity * (3 + s.id * 7 % 10) / members order by s.id;
update bookings set status = 'waitlisted' where id in (
  select id from (select b.id, capacity, row_number() over (partition by sessionId order by bookedAt, b.id) as place
                  from bookings b join sessions s on s.id = sessionId) where place > capacity);
update bookings set status = 'attended'
where status = 'booked' and sessionId in (select id from sessions where endsAt < (select now from clock));
insert into appointments (serviceId, trainerId, clientId, startsAt, endsAt, status)
select draw(1, 5), s.id, (select id from clients c where c.branchId = s.branchId and status = 'active' and c.id > draw(1, 400) limit 1),
       moment(n - 14, 60 * draw(10, 15)), '', 'booked'
from series, staff s where n < 22 and role = 'trainer' order by n, s.id;
update appointments set endsAt = strftime('%Y-%m-%dT%H:%M:%SZ', startsAt,
  (select durationMinutes from services v where v.id = serviceId) || ' minutes');
update appointments set status = pick('completed', 'completed', 'cancelled') where startsAt < (select now from clock);

-- people who may join ---------------------------------------------------------------------------------------------------
insert into leads (name, email, phone, source, stage, valueMinor, currency, ownerId, branchId, createdOn)
select first_name() || ' ' || last_name(), null, phone(), pick('website', 'walk_in', 'phone', 'referral', 'instagram', 'event'),
       pick('new', 'contacted', 'trial', 'negotiation', 'won', 'lost'), pick(4990, 13490, 17900, 59900), 'EUR',
       pick(2, 9, 16, 23, null), draw(1, 4), day(-draw(1, 120))
from series where n < 70;
update leads set email = lower(replace(name, ' ', '.')) || id || '@mail.example',
  lostReason = case stage when 'lost' then pick('too expensive', 'too far away', 'no answer') end,
  clientId = case stage when 'won' then id * 3 end;
insert into follow_ups (leadId, kind, note, dueOn, createdAt)
select id, pick('call', 'email', 'visit'), 'Talked about plans and prices.', case stage when 'trial' then day(draw(1, 9)) end,
       moment(-cast(julianday(day(0)) - julianday(createdOn) as integer) / 2, draw(540, 1100))
from leads where stage <> 'new';
insert into enquiries (name, phone, source, interest, status, branchId, createdOn)
select first_name() || ' ' || last_name(), phone(), pick('website', 'walk_in', 'phone', 'instagram'),
       pick('yoga classes', 'personal training', 'prices', 'opening hours', 'swimming', 'a trial'),
       pick('new', 'new', 'contacted', 'visited', 'converted', 'closed'), draw(1, 4), day(-draw(0, 89))
from series where n < 45;
update enquiries set email = lower(replace(name, ' ', '.')) || id || '@mail.example';
insert into referrals (clientId, friendName, friendPhone, status, rewardPoints, createdOn)
select draw(1, 60), first_name() || ' ' || last_name(), phone(), pick('pending', 'pending', 'converted', 'expired'), 200,
       day(-draw(10, 200)) from series where n < 50;
update referrals set convertedOn = date(createdOn, '+9 days'), friendClientId = id + 100 where status = 'converted';
insert into guest_visits (guestName, phone, hostClientId, branchId, visitedOn, becameClient)
select first_name() || ' ' || last_name(), phone(), pick(null, draw(1, 480)), draw(1, 4), day(-draw(0, 89)), draw(1, 5) = 1
from series where n < 90;
insert into campaigns (name, channel, status, audience, startsOn, endsOn, message, budgetMinor, currency, sent, opened, clicked, converted) values
  ('Spring sale', 'email', 'running', 'all active members', day(-14), day(30), 'Twenty percent off with SPRING20', 80000, 'EUR', 412, 236, 71, 9),
  ('Come back', 'sms', 'finished', 'members absent for 30 days', day(-60), day(-40), 'We miss you', 15000, 'EUR', 58, 58, 12, 5),
  ('New year', 'social', 'finished', 'people near a branch', day(-80), day(-50), 'Start the year strong', 250000, 'EUR', 9800, 2100, 640, 31),
  ('Bring a friend', 'push', 'running', 'members with the app', day(-7), day(21), 'Points for every friend', 20000, 'EUR', 301, 188, 40, 3),
  ('Summer body', 'email', 'scheduled', 'all active members', day(45), day(75), 'Summer is coming', 60000, 'EUR', 0, 0, 0, 0),
  ('Opening in Warsaw', 'social', 'draft', 'people in Warsaw', day(55), day(80), 'Northlight comes to Praga', 400000, 'EUR', 0, 0, 0, 0);

-- records of members ----------------------------------------------------------------------------------------------
insert into diets (name, goal, caloriesPerDay, meals, description) values
  ('Lean start', 'weight_loss', 1700, '["Yoghurt with berries", "Chicken salad", "Vegetable soup"]', 'Gentle deficit for the first weeks'),
  ('Light and green', 'weight_loss', 1500, '["Green smoothie", "Lentil salad", "Baked fish"]', null),
  ('Strong base', 'muscle_gain', 3000, '["Oats with eggs", "Beef and rice", "Quark with nuts", "Salmon pasta"]', 'Much protein'),
  ('Plant power', 'muscle_gain', 2800, '["Tofu scramble", "Bean chili", "Nut butter toast", "Tempeh bowl"]', 'Without animal products'),
  ('Everyday balance', 'maintenance', 2200, '["Muesli", "Wholegrain sandwich", "Stir fry"]', null),
  ('Marathon fuel', 'endurance', 2900, '["Porridge with banana", "Rice bowl", "Pasta with tomato"]', 'Many carbohydrates');
insert into diet_assignments (dietId, clientId, startsOn)
select draw(1, 6), id, day(-draw(1, 60)) from clients where id % 4 = 1 and status = 'active';
insert into document_templates (title, kind, version, text, isRequired) values
  ('Liability waiver', 'waiver', 3, 'I train at my own risk. I have told the staff about injuries and illnesses.', 1),
  ('Membership contract', 'contract', 5, 'I join the gym under its terms. The contract ends as the plan says.', 1),
  ('House rules', 'policy', 2, 'I keep the house rules.', 1),
  ('Photo consent', 'consent', 1, 'I agree that progress photos of me are kept.', 0),
  ('Health questionnaire', 'consent', 2, 'I have answered the questions about my health truthfully.', 0);
insert into signed_documents (templateId, clientId, signerName, signedAt)
select t.id, c.id, firstName || ' ' || lastName, moment(-draw(1, 200), draw(480, 1200))
from clients c, document_templates t where isRequired and (c.id % (t.id + 1) > 0 or c.id = 5) and status = 'active' order by 2, 1;
insert into messages (clientId, channel, subject, text, sentAt)
select id, 'email', 'Welcome', 'Good to have you.', moment(-draw(1, 300), draw(480, 1200)) from clients where id % 5 = 0;
insert into notes (clientId, authorId, category, text, createdAt)
select id, pick(1, 3, 4), pick('general', 'health', 'training', 'billing'),
       pick('Prefers training in the morning.', 'Knee injury, no squats.', 'Asked about personal training.', 'Pays by invoice.',
            'Wants to lose weight before summer.', 'Asthma, keeps an inhaler.', 'Interested in yoga.', 'Locker key replaced.'),
       moment(-draw(1, 200), draw(480, 1200))
from clients, series where n < 3 and id % 5 = 0 order by id;
insert into photos (clientId, kind, takenOn, url, weightKg)
select c.id, k.value, day(-20 * n), 'https://photos.example/' || c.id || '/' || k.value || '-' || n || '.jpg', draw(550, 1050) / 10.0
from clients c, json_each('["front", "side"]') k, series where c.id % 15 = 5 and n between 1 and 3 order by c.id, n desc, 2;
insert into goals (clientId, title, kind, unit, startValue, currentValue, targetValue, createdOn, targetDate)
select c.id, title, kind, unit, first, round(first + (last - first) * draw(1, 9) / 10.0, 1), last, day(-100), day(90)
from clients c join (select 0 as n, 'Lose weight' as title, 'weight' as kind, 'kg' as unit, 92 as first, 80 as last
  union all values (1, 'Squat 100 kg', 'strength', 'kg', 60, 100), (2, 'Run 10 km', 'endurance', 'km', 3, 10)) k
on c.id % 3 = k.n or c.id = 5 where c.id <= 100 order by c.id;
update goals set currentValue = targetValue, status = 'achieved' where id % 6 = 0;
insert into milestones (goalId, title, targetValue) select id, 'Half of the way', (startValue + targetValue) / 2 from goals;
update milestones set reachedOn = day(-20)
where (select abs(currentValue - startValue) >= abs(m.targetValue - startValue) from milestones m join goals g on g.id = m.goalId
       where m.id = milestones.id);
insert into progress (goalId, value, recordedOn) select id, currentValue, day(-7) from goals;
insert into custom_fields (entityType, key, label, type, options, isRequired) values
  ('client', 'shirt_size', 'Shirt size', 'choice', '["S", "M", "L", "XL"]', 0),
  ('client', 'emergency_contact', 'Emergency contact', 'text', '[]', 1),
  ('client', 'locker_number', 'Locker number', 'number', '[]', 0),
  ('staff', 'first_aid_until', 'First aid certificate until', 'date', '[]', 1),
  ('lead', 'wants_trial', 'Wants a trial', 'boolean', '[]', 0);
insert into custom_values
select f.id, n, case key when 'shirt_size' then pick('S', 'M', 'L') when 'emergency_contact' then phone()
                         when 'first_aid_until' then day(200 + n) when 'wants_trial' then 'true' else draw(1, 300) end
from custom_fields f, series where n between 1 and 60 and not (entityType = 'staff' and n > 28) and (f.id <> 3 or n % 7 = 0);

-- points, challenges, wearables, surveys, machines ------------------------------------------------------------------------
insert into rewards (name, description, costPoints, stock) values
  ('Water bottle', 'A bottle with our name', 100, 40), ('Guest pass', 'Bring a friend for a day', 150, null),
  ('Training shirt', 'A shirt of your size', 400, 12), ('Personal training', 'One hour with a trainer', 800, null),
  ('Free month', 'One month of membership', 1500, null), ('Gym bag', 'Out of stock until summer', 300, 0);
insert into points_entries (clientId, points, reason, balance, createdAt)
select id, case id when 5 then 720 else pick(40, 120, 260, 480, 900) end, 'visits and classes', 0, moment(-draw(20, 60), 600)
from clients where status = 'active' and (id % 4 or id = 5);
insert into points_entries (clientId, points, reason, rewardId, balance, createdAt)
select clientId, -100, 'Water bottle', 1, points - 100, moment(-draw(1, 15), 700) from points_entries
where points > 100 and (clientId % 10 = 3 or clientId = 5);
update points_entries set balance = points where points > 0;
update clients set loyaltyPoints = coalesce((select sum(points) from points_entries where clientId = clients.id), 0);
insert into challenges (name, description, startsOn, endsOn, targetPoints) values
  ('Spring step race', 'One point for every thousand steps', day(-20), day(25), 300),
  ('Class marathon', 'One point for every class', day(-10), day(50), 20),
  ('Winter rowing', 'One point for every kilometre', day(-100), day(-40), 150),
  ('Summer swim', 'One point for every lap', day(40), day(100), 500);
insert into participants
select h.id, c.id, draw(0, targetPoints * 11 / 10), day(-9) from challenges h, clients c
where h.id < 4 and c.id % 11 = h.id and c.id <> 5 and status = 'active';
insert into wearables (clientId, provider, status, connectedOn)
select id, pick('garmin', 'apple_health', 'google_fit', 'whoop'), case when id % 8 then 'connected' else 'disconnected' end, day(-60)
from clients where id % 8 in (0, 5) and status = 'active' and id < 400;
update wearables set provider = 'fitbit' where id % 5 = 1;
insert into wearable_days
select id, day(-n), draw(2000, 16000), draw(48, 80), draw(150, 900), draw(300, 540) from wearables, series where n < 21;
insert into surveys (title, question, isPublished, opensOn, closesOn) values
  ('Member satisfaction', 'How likely are you to recommend us?', 1, day(-30), day(30)),
  ('Classes', 'How do you like our classes?', 1, day(-120), day(-60)),
  ('Cleanliness', 'How clean is the gym?', 1, day(-10), day(20)),
  ('New opening hours', 'How well would longer hours suit you?', 0, day(10), day(40));
insert into survey_responses (surveyId, clientId, score, comment, respondedOn)
select s.id, c.id, pick(4, 6, 7, 8, 8, 9, 9, 10),
       pick('Great trainers.', 'Too crowded in the evening.', 'Clean and friendly.', 'More yoga please.', null, null), date(opensOn, '+4 days')
from surveys s, clients c where s.id < 4 and c.id % (5 + s.id) = 1 and status = 'active' and opensOn <= day(-4);
insert into equipment (name, serialNumber, category, branchId, status, purchasedOn, lastMaintenanceOn, maintenanceDays, nextMaintenanceOn)
with machines (place, name, category) as (values (0, 'Treadmill', 'cardio'), (1, 'Rowing machine', 'cardio'),
  (2, 'Spinning bike', 'cardio'), (3, 'Leg press', 'strength'), (4, 'Cable tower', 'strength'), (5, 'Squat rack', 'free_weights'),
  (6, 'Dumbbell set', 'free_weights'), (7, 'Battle ropes', 'functional'))
select m.name, 'NL-' || b.id || '0' || place, category, b.id, case when place = b.id then 'out_of_order' else 'in_use' end,
       day(-800), day(-draw(5, 100)), 90, '' from branches b, machines m where b.id < 5 order by b.id, place;
update equipment set nextMaintenanceOn = date(lastMaintenanceOn, maintenanceDays || ' days');
insert into facilities (name, category, branchId, capacity, status, description) values
  ('Sauna', 'wellness', 1, 16, 'open', 'Finnish sauna at 90 degrees'), ('Pool', 'aquatic', 1, 40, 'open', '25 metres and four lanes'),
  ('Juice bar', 'food', 1, 20, 'open', null), ('Locker room', 'changing', 1, 120, 'open', 'Lockers with code locks'),
  ('Parking garage', 'parking', 1, 60, 'open', 'Two hours free for members'), ('Weight room', 'training', 2, 60, 'open', null),
  ('Steam room', 'wellness', 2, 10, 'maintenance', 'Closed until the boiler is repaired'),
  ('Locker room', 'changing', 2, 80, 'open', null), ('Climbing wall', 'training', 3, 14, 'open', 'Nine metres high'),
  ('Sauna', 'wellness', 3, 12, 'closed', 'Not in use'), ('Cafe', 'food', 3, 30, 'open', null),
  ('Lake terrace', 'wellness', 4, 25, 'open', 'In summer only'), ('Pool', 'aquatic', 4, 25, 'maintenance', null);
drop table temp.series;
