/** SQL of the jobs router. */
import { createErasureClass } from '#kernel/erasure/queries.ts'

/** One that has not ended would need its payload; it stores nothing for a subject whose key is destroyed. */
export const jobErasure = createErasureClass('jobs', 'Payloads and results of jobs', [
  {
    table: 'job',
    text: `concat_ws(' ', payload::text, checkpoint::text, result::text, problem::text)`,
    where: 'finished_at is not null',
    set: `payload = '{}', checkpoint = null, result = null, problem = null`,
  },
])
