/** Two versions of a risk matrix compared. */
import { matrixKind } from '../../ui/decision/definition-kind.ts'
import { DefinitionDifferencePage } from '../../ui/definition/difference-page.tsx'

export default function MatrixDifferencePage() {
  return <DefinitionDifferencePage kind={matrixKind} />
}
