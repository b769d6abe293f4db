/** Two versions of a risk matrix compared. */
import { matrixKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionDifferencePage } from '#console/ui/definition/difference-page.tsx'

export default function MatrixDifferencePage() {
  return <DefinitionDifferencePage kind={matrixKind} />
}
