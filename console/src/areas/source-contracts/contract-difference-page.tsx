/** Two versions of a source contract compared. */
import { contractKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionDifferencePage } from '#console/ui/definition/difference-page.tsx'

export default function ContractDifferencePage() {
  return <DefinitionDifferencePage kind={contractKind} />
}
