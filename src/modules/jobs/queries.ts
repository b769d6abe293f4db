/** SQL of the jobs router. */
import { createErasureClass } from '#kernel/erasure/queries.ts'

/** One that has not ended would need its payload; it stores nothing for a subject whose key is destroyed. */
export const jobErasure = createErasureClass('jobs', 'Payloads and results of jobs', [
  {
    table: 'job',
    id: 'r.job_id',
    owner: 'app.subject_named(r.payload)',
    text: `concat_ws(E'\\n', app.json_texts(r.payload), app.json_texts(r.checkpoint), app.json_texts(r.result), app.json_texts(r.problem))`,
    json: 'jsonb_build_array(r.payload, r.result, r.problem)',
    where: 'r.finished_at is not null',
    set: `payload = '{}', checkpoint = null, result = null, problem = null`,
    restriction: 'r.restriction_id',
  },
])
