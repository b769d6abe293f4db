/** One rule. */
import { ruleKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionPage } from '#console/ui/definition/definition-page.tsx'

export default function RulePage() {
  return <DefinitionPage kind={ruleKind} />
}
