/** The clock `first-action` of a case: whatever a person does with the case first ends it. */
import { isPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Route } from '#kernel/route.ts'
import { workClocks } from '#modules/work/index.ts'
import { toWorkItem } from '../model.ts'

const FIRST_ACTION = 'first-action'

/** Starts the clock again, for the next person. */
const REOPENS = 'reopenInvestigation'

/** Once the transaction changes the case. Jobs and API keys are no first act. */
export async function endFirstAction(tx: Tx, investigation_id: string): Promise<void> {
  if (!isPerson(tx.actor)) return
  // Each opening of the case has clocks of its own: first-action, first-action-2.
  await workClocks.stopClocks(tx, toWorkItem(investigation_id), { openings_of: FIRST_ACTION })
}

/** The same routes; those that change a case end its clock. */
export const withFirstAction = (routes: readonly Route[]): Route[] =>
  routes.map((route) => {
    const changesCase = route.tx === 'write' && route.path.startsWith('/investigations/:investigation_id')
    if (!changesCase || route.id === REOPENS) return route
    const handle = async (input: unknown) => {
      const { tx, params } = input as { readonly tx: Tx; readonly params: { readonly investigation_id: string } }
      const reply = await route.handle(input)
      await endFirstAction(tx, params.investigation_id)
      return reply
    }
    return { ...route, handle }
  })
