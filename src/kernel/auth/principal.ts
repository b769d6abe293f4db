/** The name under which a caller acts: `user:` with the id of a person, or that of an API key, a job or the operator. */
import { fail } from '../problem.ts'

const PERSON = 'user:'

export const isPerson = (principal: string): boolean => principal.startsWith(PERSON)

/** The id of the person. Fails for everybody else with 403 `person_required`. */
export function expectPerson(principal: string, detail?: string): string {
  if (!isPerson(principal)) fail('person_required', detail)
  return principal.slice(PERSON.length)
}
