/** What the version of the playbook that a case follows says about it: its text, and the conditions of its steps. */
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { playbookKind, textQuery } from '#console/ui/decision/definition-kind.ts'
import type { Investigation } from './investigation-queries.ts'
import type { StepCondition } from './step-reasons.ts'

interface WrittenStep {
  readonly key?: string
  readonly when?: StepCondition
}

/** Undefined while it is loaded, and where the user may not read it. */
export function usePinnedPlaybook({ playbook }: Pick<Investigation, 'playbook'>): object | undefined {
  const may = usePermission()
  const { data } = useQuery({
    ...textQuery(playbookKind, playbook.key, playbook.version, playbook.origin),
    enabled: may('getPlaybookVersion'),
    throwOnError: false,
  })
  return data?.definition
}

/** Null for a step that a person added, and while the playbook is loaded. */
export function useStepConditions(of: Investigation): (step_key: string) => StepCondition | null {
  const definition = usePinnedPlaybook(of) as { readonly steps?: readonly WrittenStep[] } | undefined
  const steps = definition?.steps ?? []
  return (step_key) => steps.find(({ key }) => key === step_key)?.when ?? null
}
