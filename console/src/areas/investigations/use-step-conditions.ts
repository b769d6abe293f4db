/** Conditions of the steps of a case, from the version of the playbook that it follows. */
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { playbookKind, textQuery } from '#console/ui/decision/definition-kind.ts'
import type { Investigation } from './investigation-queries.ts'
import type { StepCondition } from './step-reasons.ts'

interface WrittenStep {
  readonly key?: string
  readonly when?: StepCondition
}

/** Null for a step that a person added, and while the playbook is loaded. */
export function useStepConditions({ playbook }: Investigation): (step_key: string) => StepCondition | null {
  const may = usePermission()
  const { data } = useQuery({
    ...textQuery(playbookKind, playbook.key, playbook.version, playbook.origin),
    enabled: may('getPlaybookVersion'),
    throwOnError: false,
  })
  const steps = (data?.definition as { readonly steps?: readonly WrittenStep[] } | undefined)?.steps ?? []
  return (step_key) => steps.find(({ key }) => key === step_key)?.when ?? null
}
