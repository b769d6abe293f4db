/** One risk matrix. */
import { matrixKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionPage } from '#console/ui/definition/definition-page.tsx'

export default function MatrixPage() {
  return <DefinitionPage kind={matrixKind} />
}
