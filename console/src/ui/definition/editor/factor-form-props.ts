/** What the forms of factors share. */
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import type { Factor, Input } from '#console/ui/decision/definition-model.ts'

export interface FactorFormProps {
  readonly factor: Factor
  readonly pointer: string
  readonly findings: readonly Finding[]
  readonly onChange: (change: (factor: Factor) => Factor) => void
}

/** Inputs of the draft, and chosen names that are none. */
export const listInputChoices = (inputs: readonly Input[], chosen: readonly string[]) => [
  ...inputs.map(({ name, title }) => ({ value: name, label: title || name })),
  ...chosen
    .filter((one) => one !== '' && !inputs.some(({ name }) => name === one))
    .map((one) => ({ value: one, label: one })),
]
