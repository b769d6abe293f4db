/** What every editable part of a draft needs. */
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import type { Contract } from './contract-model.ts'

export interface ContractPartsProps {
  readonly draft: Contract
  readonly findings: readonly Finding[]
  /** A stable function, so that other parts are not rendered again on each key press. */
  readonly onEdit: (edit: (draft: Contract) => Contract) => void
}
