/** The draft of a risk matrix. */
import { matrixKind } from '#console/ui/decision/definition-kind.ts'
import { DraftPage } from '#console/ui/definition/draft-page.tsx'

export default function MatrixDraftPage() {
  return <DraftPage kind={matrixKind} />
}
