import fs from 'node:fs';
import path from 'path';
import React from 'react';
import { b } from '@acme/ui/button';
import virtual from 'virtual:icons';
import own from '@/own';
import type { T } from 'typed-only';
export const a: T = [fs, path, React, b, virtual, own];
