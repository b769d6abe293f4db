-- A comment of a second look named the earlier alert, whose restriction it does not have. The link between the two says it to whoever may
-- see both (`previous_alert_id`), so the comment no longer does (src/modules/alerts/second-looks/routes.ts); this removes the ids that it did.

alter table app.alert_comment no force row level security;
alter table app.alert_comment disable trigger user;
update app.alert_comment set text = 'A second look disagreed with the dismissal of the earlier alert.'
 where text ~ '^A second look disagreed with the dismissal of the earlier alert [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.$';
alter table app.alert_comment enable trigger user;
alter table app.alert_comment force row level security;
