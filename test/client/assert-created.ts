/** Asserts that a governed call was completed, in tenants without approval. */
import { isChangeRequest, type Schemas } from '#client/index.ts'

export function assertCreated<T>(answer: T): Exclude<T, Schemas['ChangeRequest']> {
  if (isChangeRequest(answer)) throw new Error('it waits for approval')
  return answer as Exclude<T, Schemas['ChangeRequest']>
}
