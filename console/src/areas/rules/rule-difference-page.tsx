/** Two versions of a rule compared. */
import { ruleKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionDifferencePage } from '#console/ui/definition/difference-page.tsx'

export default function RuleDifferencePage() {
  return <DefinitionDifferencePage kind={ruleKind} />
}
