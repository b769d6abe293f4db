/** One rule. */
import { ruleKind } from '../../ui/decision/definition-kind.ts'
import { DefinitionPage } from '../../ui/definition/definition-page.tsx'

export default function RulePage() {
  return <DefinitionPage kind={ruleKind} />
}
