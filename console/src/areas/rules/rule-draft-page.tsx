/** The draft of a rule. */
import { ruleKind } from '#console/ui/decision/definition-kind.ts'
import { DraftPage } from '#console/ui/definition/draft-page.tsx'

export default function RuleDraftPage() {
  return <DraftPage kind={ruleKind} />
}
