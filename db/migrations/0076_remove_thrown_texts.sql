-- The text of an error that a plugin threw may quote a subject, and a record of a run outlives the erasure of the subject. It is no longer
-- written (src/modules/plugins/invocations.ts); this removes what was. Rows of lists, which imports read, are no subjects.
-- Nothing that is hashed or signed contains it.

alter table app.plugin_invocation no force row level security;
alter table app.plugin_invocation disable trigger user;
update app.plugin_invocation i
   set failures = (
     select jsonb_agg(case when f.failure ->> 'reason' = 'threw'
                           then f.failure || '{"message": "It threw an error. Its text is no longer kept, because it may quote inputs."}' else f.failure end
                      order by f.place)
       from jsonb_array_elements(i.failures) with ordinality as f (failure, place))
 where i.failures @> '[{"reason": "threw"}]' and i.cause_kind not in ('import', 'preview');
alter table app.plugin_invocation enable trigger user;
alter table app.plugin_invocation force row level security;
