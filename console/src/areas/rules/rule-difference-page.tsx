/** Two versions of a rule compared. */
import { ruleKind } from '../../ui/decision/definition-kind.ts'
import { DefinitionDifferencePage } from '../../ui/definition/difference-page.tsx'

export default function RuleDifferencePage() {
  return <DefinitionDifferencePage kind={ruleKind} />
}
