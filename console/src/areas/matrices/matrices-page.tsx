/** All risk matrices. */
import { matrixKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionsPage } from '#console/ui/definition/definitions-page.tsx'

export default function MatricesPage() {
  return (
    <DefinitionsPage
      kind={matrixKind}
      about="How subjects are rated: factors with weights, a score, bands, and triggers that set a least band. Every number comes from a list or stands in the matrix."
    />
  )
}
