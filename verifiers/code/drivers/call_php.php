<?php
// Runs in the sandbox: calls one function of solution.php and prints what it returned.
// PHP has one kind of array: with the keys 0, 1, 2, ... it is a list, else a dictionary.

function verigym_decoded($value) {
    if (!is_array($value)) return $value;
    if (count($value) === 1 && is_string(array_key_first($value))) {
        $tag = array_key_first($value);
        $inner = $value[$tag];
        if ($tag === '$tuple' || $tag === '$set') return array_map('verigym_decoded', $inner);
        if ($tag === '$float') return ['nan' => NAN, 'inf' => INF, '-inf' => -INF][$inner];
        if ($tag === '$dict') {
            $out = [];
            foreach ($inner as [$key, $item]) $out[$key] = verigym_decoded($item);
            return $out;
        }
    }
    return array_map('verigym_decoded', $value);
}

function verigym_encode($value, $depth) {
    if ($depth > 200) throw new RangeException('an answer may be nested 200 deep');
    if ($value === null) return 'null';
    if (is_bool($value)) return $value ? 'true' : 'false';
    if (is_int($value)) return (string) $value;
    if (is_float($value)) {
        if (is_nan($value)) return '{"$float":"nan"}';
        if (is_infinite($value)) return $value > 0 ? '{"$float":"inf"}' : '{"$float":"-inf"}';
        return json_encode($value, JSON_PRESERVE_ZERO_FRACTION);
    }
    if (is_string($value)) return json_encode($value, JSON_THROW_ON_ERROR);
    if (!is_array($value)) throw new TypeError('the function returned what is not plain data');
    $out = [];
    $list = array_is_list($value);
    foreach ($value as $key => $item) {
        $text = verigym_encode($item, $depth + 1);
        $out[] = $list ? $text : '[' . verigym_encode($key, $depth + 1) . ',' . $text . ']';
    }
    return $list ? '[' . implode(',', $out) . ']' : '{"$dict":[' . implode(',', $out) . ']}';
}

(function () {
    ini_set('serialize_precision', '-1');
    $call = json_decode(stream_get_contents(STDIN), true, 1024, JSON_THROW_ON_ERROR);
    $args = array_map('verigym_decoded', $call['args']);
    ob_start();
    require 'solution.php';
    $name = $call['function'];
    if (strpos($name, '.') !== false) {
        [$class, $method] = explode('.', $name, 2);
        $name = [new $class(), $method];
    }
    $line = verigym_encode($name(...$args), 0);
    ob_end_clean();
    fwrite(STDOUT, "\n\x1everigym-answer " . $line . "\n");
    fflush(STDOUT);
    exit(0);
})();
