/** What a governed call has made, in tenants that ask for no approval. */
import { isChangeRequest, type Schemas } from '#client/index.ts'

export function assertCreated<T>(answer: T): Exclude<T, Schemas['ChangeRequest']> {
  if (isChangeRequest(answer)) throw new Error('it waits for approval')
  return answer as Exclude<T, Schemas['ChangeRequest']>
}
