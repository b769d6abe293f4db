/** The parts of one thing as tabs; which one is open stands in the page's address. */
import { Tabs } from '@mantine/core'
import { type ReactNode, Suspense } from 'react'
import { useSetFilter } from './filters.tsx'
import { ListSkeleton } from './list.tsx'

interface PartTabsProps<Name extends string> {
  readonly label: string
  readonly offered: readonly Name[]
  readonly names: Readonly<Record<Name, string>>
  readonly open: Name
  readonly panels: Readonly<Record<Name, ReactNode>>
}

export function PartTabs<Name extends string>({ label, offered, names, open, panels }: PartTabsProps<Name>) {
  const set = useSetFilter()
  return (
    <Tabs value={open} onChange={(chosen) => set('tab', chosen)} mt="md" keepMounted={false}>
      <Tabs.List aria-label={label} className="tabs">
        {offered.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {names[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={open} pt="md">
        <Suspense fallback={<ListSkeleton />}>{panels[open]}</Suspense>
      </Tabs.Panel>
    </Tabs>
  )
}
