/** Which act brings a case forward for the user. Pure. */
import type { Investigation } from './investigation-queries.ts'

type CaseAct = Investigation['next_actions'][number]['action']
type ActedCase = Pick<Investigation, 'main_action' | 'assignee' | 'next_actions'>

/** A person with another role may do it. */
const isForOthers = ({ next_actions }: ActedCase, act: CaseAct): boolean =>
  next_actions.some(({ action, missing }) => action === act && missing.some(({ code }) => code === 'role_required'))

/** Null where another person has to act. A waiting case is resumed first; a case without assignee is taken first. */
export function chooseMainAct(of: ActedCase): CaseAct | null {
  const isPermitted = (act: CaseAct) => of.next_actions.some((one) => one.action === act && one.is_permitted)
  if (of.main_action === 'propose_outcome' && !isPermitted('propose_outcome')) {
    if (isPermitted('resume')) return 'resume'
    if (of.assignee === null && isPermitted('assign')) return 'assign'
  }
  return of.main_action === 'close' && isForOthers(of, 'close') ? null : of.main_action
}
