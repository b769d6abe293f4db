/** Two versions of a rule compared. */
import { ruleKind } from '../../ui/decision/kind.ts'
import { DefinitionDifferencePage } from '../../ui/definition/difference-page.tsx'

export default function RuleDifferencePage() {
  return <DefinitionDifferencePage kind={ruleKind} />
}
