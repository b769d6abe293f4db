/** Line icons on a grid of 24. They are decorative: the meaning is always in the text beside them. */
import type { SVGProps } from 'react'

const paths = {
  home: 'M4 11.5 12 4l8 7.5M6 10v10h12V10M10 20v-6h4v6',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6 9c0-3.3 2.7-6 6-6s6 2.7 6 6M16 4.3a3.5 3.5 0 0 1 0 6.4M18 14.5c1.8.9 3 3 3 5.5',
  key: 'M14.5 9.5a5 5 0 1 0-4.3 5L12 16.3h2v2h2v2h4v-3.8l-5.7-5.7c.1-.4.2-.9.2-1.3ZM8.5 8.5h.01',
  approve: 'M9 12.5l2.2 2.2 4.3-4.7M12 3l7.5 3v5.5c0 4.5-3 8-7.5 9.5-4.5-1.5-7.5-5-7.5-9.5V6L12 3Z',
  work: 'M5 5h14v5H5zM5 14h14v5H5zM8.5 7.5h.01M8.5 16.5h.01M12 7.5h4M12 16.5h4',
  tenant: 'M4 20V8l8-4 8 4v12M2.5 20h19M8 11h2M14 11h2M8 15h2M14 15h2',
  record: 'M7 3.5h7l4 4V20.5H7zM14 3.5v4h4M9.5 12h6M9.5 15.5h6',
  lists:
    'M4 6.5c0-1.4 3.6-2.5 8-2.5s8 1.1 8 2.5-3.6 2.5-8 2.5-8-1.1-8-2.5ZM4 6.5v11c0 1.4 3.6 2.5 8 2.5s8-1.1 8-2.5v-11M4 12c0 1.4 3.6 2.5 8 2.5s8-1.1 8-2.5',
  bring: 'M12 4v11M7.5 10.5 12 15l4.5-4.5M4.5 16v4h15v-4',
  clock: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 7.5V12l3 2',
  shape: 'M4.5 4.5h6v6h-6zM13.5 13.5h6v6h-6zM17 4.5v6M14 7.5h6M7.5 13.5v6M4.5 16.5h6',
  grid: 'M4.5 4.5h15v15h-15zM4.5 9.5h15M4.5 14.5h15M9.5 4.5v15M14.5 4.5v15',
  rule: 'M5 5h14M5 9h8M5 13h14M5 17h6M15.5 18.5l2 2 4-4.5',
  contract: 'M7 3.5h7l4 4V11M14 3.5v4h4M7 3.5v17h5.5M10 11.5h4M10 15h2.5M15 17.5l2 2 4-4.5',
  provider: 'M9 3.5v4M15 3.5v4M6.5 7.5h11v4a5.5 5.5 0 0 1-11 0zM12 17v3.5',
  plugin: 'M10 4.5a2 2 0 0 1 4 0V6h4.5v4.5H17a2 2 0 0 0 0 4h1.5V19.5H5.5v-5H7a2 2 0 0 0 0-4H5.5V6H10z',
  playbook: 'M5 4.5h11.5a2 2 0 0 1 2 2v13H7a2 2 0 0 1-2-2zM5 17.5a2 2 0 0 1 2-2h11.5M9 8.5h6M9 12h4',
  tools:
    'M14 6.5a4 4 0 0 1 5.2-3.8L16.7 5.2l2.1 2.1 2.5-2.5A4 4 0 0 1 16 10L8.5 17.5a2 2 0 0 1-3-3L13 7a4 4 0 0 1 1-.5ZM5 5l4.5 4.5M14.5 14.5 19 19',
  scale: 'M12 4v16M8 20h8M5 7h14M5 7l-2.5 6.5a3 3 0 0 0 5 0L5 7ZM19 7l-2.5 6.5a3 3 0 0 0 5 0L19 7Z',
  batch: 'M8 4.5h11.5V16M4.5 8H16v11.5H4.5zM7.5 12h5.5M7.5 15.5h5.5',
  pulse: 'M3 12h4l3-7 4 14 3-7h4',
  docs: 'M8 7l-5 5 5 5M16 7l5 5-5 5M13.5 5l-3 14',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20',
  menu: 'M4 7h16M4 12h16M4 17h16',
  chevron: 'M9 6l6 6-6 6',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5c0-3.9 3.4-6.5 7.5-6.5s7.5 2.6 7.5 6.5',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  warning: 'M12 4 2.5 20h19L12 4ZM12 10v4.5M12 17.2h.01',
  lock: 'M6 11h12v9.5H6zM8.5 11V7.5a3.5 3.5 0 0 1 7 0V11M12 15v2',
  hold: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM9.5 9v6M14.5 9v6',
  inbox: 'M4 13.5 6.5 5h11L20 13.5V19H4zM4 13.5h5l1.2 2.5h3.6l1.2-2.5h5',
  case: 'M4 8h16v11.5H4zM9 8V5h6v3M4 13h16M12 12v2.5',
  erase: 'M9 19.5h11M5 14.5l8.5-9 6 5.5-8 8.5H8.5zM9 10l6 5.5',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
} as const

export type IconName = keyof typeof paths

interface IconProps extends SVGProps<SVGSVGElement> {
  readonly name: IconName
  readonly size?: number
}

export function Icon({ name, size = 18, ...rest }: IconProps) {
  return (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      {...rest}
    >
      <path d={paths[name]} />
    </svg>
  )
}
