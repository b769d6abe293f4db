/** What the guide keeps in the browser, per user: whether it was begun or dismissed, and the replay that was seen. */
import { useLocalStorage } from '@mantine/hooks'
import { useMe } from '#console/session/queries.ts'

export interface StoredProgress {
  readonly hasBegun: boolean
  readonly isDismissed: boolean
  readonly hasReplayed: boolean
}

const nothing: StoredProgress = { hasBegun: false, isDismissed: false, hasReplayed: false }

export function useStoredProgress(): readonly [StoredProgress, (change: Partial<StoredProgress>) => void] {
  const { tenant, principal } = useMe()
  const [stored, setStored] = useLocalStorage<StoredProgress>({
    key: `probity.guide.${tenant.tenant_id}.${principal}`,
    defaultValue: nothing,
    getInitialValueInEffect: false,
  })
  return [stored, (change) => setStored((now) => ({ ...nothing, ...now, ...change }))]
}
