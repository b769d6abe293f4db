import { expect, test } from 'vitest'
import { CacheSlots } from '../cache/caches.ts'
import { TenantStatusCache, tenantStatuses } from './tenant-status-cache.ts'

test('a request beside an open change does not keep the old status alive after the commit', async () => {
  const caches = new CacheSlots()
  let denied: string[] = []
  let access_epoch = 1
  const cache = new TenantStatusCache(caches.get(tenantStatuses), async () => ({
    state: 'active',
    access_epoch,
    details: { denied, limits: [], roles: [], tool_rules: [] },
  }))
  const readDenied = async () => [...((await cache.get('bank'))?.denied ?? [])]
  expect(await readDenied()).toEqual([])

  const onCommitted: (() => void)[] = []
  cache.invalidateOnCommit({ tenant_id: 'bank', onCommit: (act) => onCommitted.push(act) })
  expect(await readDenied()).toEqual([])
  ;[denied, access_epoch] = [['user:eve'], 2]
  for (const act of onCommitted) act()
  expect(await readDenied()).toEqual(['user:eve'])
})
