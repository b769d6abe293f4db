/** The draft of a rule. */
import { ruleKind } from '../../ui/decision/kind.ts'
import { DraftPage } from '../../ui/definition/draft-page.tsx'

export default function RuleDraftPage() {
  return <DraftPage kind={ruleKind} />
}
