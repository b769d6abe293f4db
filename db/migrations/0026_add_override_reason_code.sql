-- Why a person set a rating, as a code of the list reason-codes. Roles that may not read the text of an override get this.
alter table app.rating add column reason_code text
  constraint rating_reason_code_ck check (reason_code is null
    or (reason_code ~ '^[A-Z][A-Z0-9_]{0,59}$' and cause in ('override', 'override-ended')));
