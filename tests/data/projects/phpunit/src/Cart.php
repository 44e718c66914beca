<?php
class Cart
{
    public function total(array $prices): int
    {
        return array_sum($prices) + 1;
    }
}
