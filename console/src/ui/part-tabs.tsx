/** Tabs of a page; the open tab is in the page address. */
import { Tabs } from '@mantine/core'
import { type ReactNode, Suspense, useEffect, useRef } from 'react'
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
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // On a narrow screen the open tab may be outside the view; only the row of tabs is scrolled, not the page.
    const tab = list.current?.querySelector<HTMLElement>(`[data-part="${open}"]`)
    if (list.current && tab) list.current.scrollLeft = tab.offsetLeft - (list.current.clientWidth - tab.offsetWidth) / 2
  }, [open])
  return (
    <Tabs value={open} onChange={(chosen) => set('tab', chosen)} mt="md" keepMounted={false}>
      <Tabs.List aria-label={label} className="tabs" ref={list}>
        {offered.map((name) => (
          <Tabs.Tab key={name} value={name} data-part={name}>
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
