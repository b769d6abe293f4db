/** The navigation: areas in collapsible groups. Areas the user may not use are hidden. */
import { NavLink, Text, UnstyledButton } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { useId } from 'react'
import { type Area, groups } from '#console/area.ts'
import { filterAreas, findArea } from '#console/find-areas.ts'
import { meQuery } from '#console/session/queries.ts'
import { useToken } from '#console/session/session.ts'
import { Icon } from '#console/ui/icons.tsx'

/** Only public areas until the permissions are loaded. */
export function useVisibleAreas(): readonly Area[] {
  const token = useToken()
  const { data: me } = useQuery({ ...meQuery, enabled: token !== '', throwOnError: false })
  return filterAreas(token === '' ? null : (me?.operations ?? null))
}

export function Navigation({ onFollow }: { readonly onFollow?: () => void }) {
  const visible = useVisibleAreas()
  const here = useLocation({ select: ({ pathname }) => findArea(pathname) })
  const [folded, setFolded] = useLocalStorage<string[]>({
    key: 'probity.folded',
    defaultValue: [],
    getInitialValueInEffect: false,
  })
  const link = (area: Area) => <AreaLink key={area.path} area={area} isHere={area === here} onFollow={onFollow} />
  const visibleGroups = groups.filter((group) => visible.some((area) => area.group === group))
  return (
    <nav aria-label="Areas" className="areas">
      {visible.filter((area) => area.group === null && !area.isUnlisted).map(link)}
      {visibleGroups.map((group) => (
        <Group
          key={group}
          name={group}
          isFolded={folded.includes(group)}
          onFold={(fold) => setFolded(fold ? [...folded, group] : folded.filter((name) => name !== group))}
        >
          {visible.filter((area) => area.group === group).map(link)}
        </Group>
      ))}
    </nav>
  )
}

interface AreaLinkProps {
  readonly area: Area
  readonly isHere: boolean
  readonly onFollow: (() => void) | undefined
}

function AreaLink({ area, isHere, onFollow }: AreaLinkProps) {
  return (
    <NavLink
      component={Link}
      to={area.path}
      activeOptions={{ exact: true }}
      label={area.title}
      leftSection={<Icon name={area.icon} />}
      active={isHere}
      {...(isHere && { 'aria-current': 'page' as const })}
      {...(onFollow && { onClick: onFollow })}
    />
  )
}

interface GroupProps {
  readonly name: string
  readonly isFolded: boolean
  readonly onFold: (fold: boolean) => void
  readonly children: React.ReactNode
}

function Group({ name, isFolded, onFold, children }: GroupProps) {
  const id = useId()
  return (
    <>
      <UnstyledButton
        className="areas-group"
        aria-expanded={!isFolded}
        aria-controls={id}
        onClick={() => onFold(!isFolded)}
      >
        <Text span size="xs" fw={600} c="dimmed">
          {name}
        </Text>
        <Icon name="chevron" size={12} className={isFolded ? 'folded' : 'unfolded'} />
      </UnstyledButton>
      <div id={id} hidden={isFolded}>
        {children}
      </div>
    </>
  )
}
