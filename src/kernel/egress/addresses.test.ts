import { expect, test } from 'vitest'
import { classifyAddress, isLocalAddress, isSameAddress } from './addresses.ts'

const classes: readonly [address: string, expected: string][] = [
  ['93.184.216.34', 'public'],
  ['1.1.1.1', 'public'],
  ['172.15.255.255', 'public'],
  ['172.32.0.1', 'public'],
  ['2606:4700::1111', 'public'],
  ['2a00:1450:4001::1', 'public'],
  ['::ffff:1.1.1.1', 'public'],
  ['64:ff9b::1.1.1.1', 'public'],
  ['10.1.2.3', 'private'],
  ['172.16.0.1', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['127.0.0.1', 'private'],
  ['127.8.9.1', 'private'],
  ['::1', 'private'],
  ['fd12:3456::1', 'private'],
  ['::ffff:127.0.0.1', 'private'],
  ['64:ff9b::10.0.0.1', 'private'],
  ['0.0.0.0', 'forbidden'],
  ['0.1.2.3', 'forbidden'],
  ['169.254.169.254', 'forbidden'],
  ['168.63.129.16', 'forbidden'],
  ['100.100.100.200', 'forbidden'],
  ['192.0.0.192', 'forbidden'],
  ['192.0.2.1', 'forbidden'],
  ['192.88.99.1', 'forbidden'],
  ['198.18.0.1', 'forbidden'],
  ['198.51.100.1', 'forbidden'],
  ['203.0.113.1', 'forbidden'],
  ['224.0.0.1', 'forbidden'],
  ['240.0.0.1', 'forbidden'],
  ['255.255.255.255', 'forbidden'],
  ['::', 'forbidden'],
  ['::127.0.0.1', 'forbidden'],
  ['::5db8:d822', 'forbidden'],
  ['::ffff:0:127.0.0.1', 'forbidden'],
  ['::ffff:169.254.169.254', 'forbidden'],
  ['64:ff9b::169.254.169.254', 'forbidden'],
  ['64:ff9b::168.63.129.16', 'forbidden'],
  ['64:ff9b:1::1.1.1.1', 'forbidden'],
  ['2002:101:101::', 'forbidden'],
  ['2001:0:101:101::', 'forbidden'],
  ['2001:db8::1', 'forbidden'],
  ['3fff::1', 'forbidden'],
  ['fe80::1', 'forbidden'],
  ['fe80::1%eth0', 'forbidden'],
  ['fec0::1', 'forbidden'],
  ['ff02::1', 'forbidden'],
  ['100::1', 'forbidden'],
  ['5f00::1', 'forbidden'],
  ['4000::1', 'forbidden'],
  ['fd00:ec2::254', 'forbidden'],
  ['fd20:ce::254', 'forbidden'],
  ['127.1', 'forbidden'],
  ['0177.0.0.1', 'forbidden'],
  ['2130706433', 'forbidden'],
  ['localhost', 'forbidden'],
  ['', 'forbidden'],
]

test('classifies every range, and addresses inside addresses by what they contain', () => {
  for (const [address, expected] of classes) expect(classifyAddress(address), address).toBe(expected)
})

test('compares addresses by value', () => {
  expect(isSameAddress('::1', '0:0:0:0:0:0:0:1')).toBe(true)
  expect(isSameAddress('127.0.0.1', '::ffff:127.0.0.1')).toBe(true)
  expect(isSameAddress('127.0.0.1', '127.0.0.2')).toBe(false)
  expect(isSameAddress('127.0.0.1', '')).toBe(false)
  expect(isSameAddress('localhost', 'localhost')).toBe(false)
})

test('finds the addresses of this machine', () => {
  expect(isLocalAddress('127.0.0.1')).toBe(true)
  expect(isLocalAddress('::1')).toBe(true)
  expect(isLocalAddress('::ffff:127.0.0.1')).toBe(true)
  expect(isLocalAddress('93.184.216.34')).toBe(false)
  expect(isLocalAddress('localhost')).toBe(false)
})
