/** The draft of a rule. */
import { ruleKind } from '../../ui/decision/definition-kind.ts'
import { DraftPage } from '../../ui/definition/draft-page.tsx'

export default function RuleDraftPage() {
  return <DraftPage kind={ruleKind} />
}
